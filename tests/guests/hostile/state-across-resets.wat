;; attack:   an environment that keeps state from one episode to the next without declaring it, so that what an agent meets depends on who ran
;;           before. Here it would trap at the second reset.
;; expected: fresh
;; budget:   none: a reset is a fresh instance.
(global $resets (mut i32) (i32.const 0))
(func $on_reset
    (if (global.get $resets) (then unreachable))
    (if (i32.load (i32.const 64)) (then unreachable))
    (global.set $resets (i32.const 1))
    (i32.store (i32.const 64) (i32.const 1)))
