(func $after_call (param i32 i32 i32))
