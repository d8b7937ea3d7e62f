;; attack:   logs without end: to fill the host's memory, its disk, or the operator's screen.
;; expected: host_bytes
;; budget:   `host_bytes`; of what was logged only the last `log_bytes` are kept.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (memory.fill (i32.const 0x20000) (i32.const 0x61) (i32.const 4096))
    (loop $again (call $log (i32.const 0) (i32.const 0x20000) (i32.const 4096)) (br $again))
    unreachable)
