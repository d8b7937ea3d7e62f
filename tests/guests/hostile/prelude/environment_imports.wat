(import "loopwright:afv/tools@0.1.0" "installed" (func $installed (param i32)))
(import "loopwright:afv/tools@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32 i32 i32 i32)))
