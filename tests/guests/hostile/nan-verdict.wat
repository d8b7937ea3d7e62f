;; attack:   a verifier whose score is not a number, so that averages, orders and gradients become nonsense.
;; expected: contract
;; budget:   none: a score is finite and within [0, 1], or the verdict is a fault of the verifier and the episode void.
(func $judge (param i32)
    (global.set $score (f64.const nan)))
