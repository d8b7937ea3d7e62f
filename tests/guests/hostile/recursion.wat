;; attack:   endless recursion, so that the host's thread overflows its stack.
;; expected: stack
;; budget:   512 KiB of native stack, well below a thread's.
(func $deeper (param i32) (result i32) (i32.add (i32.const 1) (call $deeper (local.get 0))))
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (drop (call $deeper (i32.const 1))) (global.get $done))
