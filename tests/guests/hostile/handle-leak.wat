;; attack:   a verifier that takes snapshots and never drops one.
;; expected: handles
;; budget:   `handles`.
(func $judge (param i32)
    (loop $again (drop (call $initial)) (br $again)))
