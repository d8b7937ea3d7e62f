(func $on_reset)
