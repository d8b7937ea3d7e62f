;; attack:   grows its memory until the host has none left, and touches every page so that it is really held.
;; expected: memory
;; budget:   `memory_bytes`; a growth beyond it ends the guest instead of answering -1, so that it cannot go on trying.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (local $at i32)
    (loop $again
        (local.set $at (i32.mul (memory.size) (i32.const 65536)))
        (drop (memory.grow (i32.const 16)))
        (memory.fill (local.get $at) (i32.const 1) (i32.const 0x100000))
        (br $again))
    unreachable)
