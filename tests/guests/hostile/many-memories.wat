;; attack:   eight memories, each within the limit of one, so that a limit for each memory would be multiplied.
;; expected: memory
;; budget:   `memory_bytes` over the sum of all memories, and at most eight of them.
(memory $m1 1) (memory $m2 1) (memory $m3 1) (memory $m4 1) (memory $m5 1) (memory $m6 1) (memory $m7 1)
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again
        (drop (memory.grow $m1 (i32.const 16))) (drop (memory.grow $m2 (i32.const 16))) (drop (memory.grow $m3 (i32.const 16)))
        (drop (memory.grow $m4 (i32.const 16))) (drop (memory.grow $m5 (i32.const 16))) (drop (memory.grow $m6 (i32.const 16)))
        (drop (memory.grow $m7 (i32.const 16)))
        (br $again))
    unreachable)
