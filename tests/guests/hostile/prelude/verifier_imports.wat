(import "loopwright:afv/log@0.1.0" "write" (func $log (param i32 i32 i32)))
(import "loopwright:afv/evidence@0.1.0" "initial" (func $initial (result i32)))
(import "loopwright:afv/evidence@0.1.0" "steps" (func $steps (param i32 i32 i32)))
