;; attack:   fills 32 MiB in one instruction, again and again: the epoch is looked at once for each instruction, not for each byte.
;; expected: fuel
;; budget:   `call_fuel`, of which bulk instructions cost by their size; one is bounded by `memory_bytes`.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (drop (memory.grow (i32.const 512)))
    (loop $again
        (memory.fill (i32.const 0x20000) (i32.const 1) (i32.const 0x2000000))
        (br $again))
    unreachable)
