;; attack:   logs empty lines without end: no byte is charged for its text, and each line is an entry in the host's list.
;; expected: host_bytes
;; budget:   `host_bytes`, of which every crossing costs 64 beside its text.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again (call $log (i32.const 0) (i32.const 0x20000) (i32.const 0)) (br $again))
    unreachable)
