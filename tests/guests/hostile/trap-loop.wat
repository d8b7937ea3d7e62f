;; attack:   traps at every call, so that a host that leaks a little with each failed instance runs out.
;; expected: trapped
;; budget:   none: an instance that trapped is dropped, and its slot is free again.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    unreachable)
