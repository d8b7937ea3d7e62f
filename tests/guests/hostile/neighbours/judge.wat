;; A well-behaved verifier: a prefix passes when the agent itself did something that succeeded, by the host's record.
(func $judge (param $upto i32) (local $ret i32) (local $at i32) (local $end i32)
    (global.set $outcome (i32.const 1)) (global.set $score (f64.const 0))
    (local.set $ret (call $alloc (i32.const 8)))
    (call $steps (i32.const 0) (i32.const 256) (local.get $ret))
    (local.set $at (i32.load (local.get $ret)))
    (if (i32.lt_u (i32.load offset=4 (local.get $ret)) (local.get $upto)) (then unreachable))
    (local.set $end (i32.add (local.get $at) (i32.mul (local.get $upto) (i32.const 64))))
    (block $done (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        ;; `by` is the agent, and `ok`.
        (if (i32.and (i32.eqz (i32.load8_u offset=16 (local.get $at))) (i32.load8_u offset=48 (local.get $at)))
            (then (global.set $outcome (i32.const 0)) (global.set $score (f64.const 1))))
        (local.set $at (i32.add (local.get $at) (i32.const 64)))
        (br $next))))
