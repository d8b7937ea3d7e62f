;; attack:   a tool whose name is another plugin's with one letter out of another script: the `p` of `note_put` is Cyrillic.
;; expected: contract
;; budget:   none: names are made of a-z, A-Z, 0-9, `_` and `-`.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (global.get $done))
