;; attack:   a result whose text is no UTF-8, so that a host that trusts it slices a character.
;; expected: trapped
;; budget:   none: text is checked while it crosses.
(data (i32.const 16) "\ff\fe\c3\28")
(data (i32.const 32) "null")
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (local $at i32)
    (local.set $at (call $alloc (i32.const 32)))
    (i32.store (local.get $at) (i32.const 0))
    (i32.store offset=4 (local.get $at) (i32.const 16)) (i32.store offset=8 (local.get $at) (i32.const 4))
    (i32.store offset=12 (local.get $at) (i32.const 32)) (i32.store offset=16 (local.get $at) (i32.const 4))
    (local.get $at))
