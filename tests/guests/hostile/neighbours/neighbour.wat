;; A well-behaved tool plugin, whose results must not change whatever runs beside it: `note_put` stores its arguments, `note_fail` stores
;; them and fails, `note_dice` stores a random number.
(data (i32.const 16) "neighbour")
(func $store (param $key i32) (param $key_len i32) (param $value i32) (param $value_len i32)
    (call $put (i32.const 16) (i32.const 9) (local.get $key) (local.get $key_len) (local.get $value) (local.get $value_len)
        (call $alloc (i32.const 32))))
(func (export "loopwright:afv/tool@0.1.0#call")
    (param $id i32) (param $id_len i32) (param $tool i32) (param $tool_len i32) (param $args i32) (param $args_len i32) (result i32)
    (local $letter i32)
    ;; The letter after `note_`.
    (local.set $letter (i32.load8_u offset=5 (local.get $tool)))
    (if (i32.eq (local.get $letter) (i32.const 100)) (then
        ;; A JSON text: a quote, eight letters made out of the number, a quote.
        (i32.store8 (i32.const 64) (i32.const 34)) (i32.store8 (i32.const 73) (i32.const 34))
        (i64.store align=1 (i32.const 65)
            (i64.or (i64.and (call $random) (i64.const 0x0f0f0f0f0f0f0f0f)) (i64.const 0x4040404040404040)))
        (call $store (local.get $id) (local.get $id_len) (i32.const 64) (i32.const 10))
        (return (global.get $done))))
    (call $store (local.get $id) (local.get $id_len) (local.get $args) (local.get $args_len))
    (if (i32.eq (local.get $letter) (i32.const 102)) (then (return (global.get $failed))))
    (global.get $done))
