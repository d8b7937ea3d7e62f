;; attack:   a tool whose name a reader takes for another plugin's: `N0te-Put` beside `note_put`.
;; expected: taken
;; budget:   none: names of different plugins must differ also without case, between `-` and `_`, and between letters that look alike.
(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32)
    (global.get $done))
