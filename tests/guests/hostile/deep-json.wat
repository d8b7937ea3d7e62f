;; attack:   a result of 100,000 opening brackets, so that a recursive parser overflows the host's stack.
;; expected: contract
;; budget:   JSON that crosses is at most 32 levels deep; the parser counts before it descends.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (local $at i32)
    (drop (memory.grow (i32.const 4)))
    (memory.fill (i32.const 0x20000) (i32.const 0x5b) (i32.const 100000))
    (local.set $at (call $alloc (i32.const 32)))
    (i32.store (local.get $at) (i32.const 0))
    (i32.store offset=4 (local.get $at) (i32.const 0x20000)) (i32.store offset=8 (local.get $at) (i32.const 4))
    (i32.store offset=12 (local.get $at) (i32.const 0x20000)) (i32.store offset=16 (local.get $at) (i32.const 100000))
    (local.get $at))
