;; attack:   a result of 48 MiB, so that the host copies it.
;; expected: host_bytes
;; budget:   `host_bytes` is also what one crossing may carry, and it is counted before anything is copied.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (local $at i32)
    (drop (memory.grow (i32.const 800)))
    (memory.fill (i32.const 0x20000) (i32.const 0x20) (i32.const 0x3000000))
    (local.set $at (call $alloc (i32.const 32)))
    (i32.store (local.get $at) (i32.const 0))
    (i32.store offset=4 (local.get $at) (i32.const 0x20000)) (i32.store offset=8 (local.get $at) (i32.const 0x3000000))
    (i32.store offset=12 (local.get $at) (i32.const 16)) (i32.store offset=16 (local.get $at) (i32.const 4))
    (local.get $at))
(data (i32.const 16) "null")
