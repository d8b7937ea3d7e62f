;; attack:   calls the host back while the host is copying a call's arguments in, when its own state is half-way.
;; expected: trapped
;; budget:   none: a component may not be left while it is being entered; the engine's embedder API refuses by construction.
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (call $log (i32.const 0) (i32.const 16) (i32.const 4))
    (call $alloc (local.get 3)))
