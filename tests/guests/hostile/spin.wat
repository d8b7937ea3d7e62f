;; attack:   a call that never returns.
;; expected: fuel
;; budget:   `call_fuel` of the plugin's limits; the epoch deadline stands behind it.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (loop $again (br $again)) unreachable)
