;; attack:   writes a collection of another plugin, which it asked for and was not granted.
;; expected: denied
;; budget:   the grant: what no rule gives is denied, and nothing is written. The guest tells what it was told as a failure of code
;;           400 + the case of `state-error`; 499 stands for a write that went through.
(data (i32.const 16) "neighbour")
(data (i32.const 32) "k1")
(data (i32.const 40) "{\"stolen\":true}")
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (local $out i32) (local $at i32)
    (local.set $out (call $alloc (i32.const 32)))
    (call $put (i32.const 16) (i32.const 9) (i32.const 32) (i32.const 2) (i32.const 40) (i32.const 15) (local.get $out))
    (local.set $at (call $alloc (i32.const 32)))
    (i32.store (local.get $at) (i32.const 1))
    (i32.store16 offset=4 (local.get $at)
        (if (result i32) (i32.load8_u (local.get $out))
            (then (i32.add (i32.const 400) (i32.load8_u offset=4 (local.get $out))))
            (else (i32.const 499))))
    (i32.store offset=8 (local.get $at) (i32.const 16)) (i32.store offset=12 (local.get $at) (i32.const 9))
    (i32.store offset=16 (local.get $at) (i32.const 0))
    (local.get $at))
