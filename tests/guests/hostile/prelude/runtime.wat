;; What every guest has beside its own text: memory, a heap that a post-return empties, and `realloc`. The builder puts the globals
;; `$image_end`, `$heap`, `$identity` and those of the guest's kind before it, and leaves out what the guest defines itself.
;;
;; Bytes 16 to 1023 of memory belong to the guest's own data; from 1024 on lie the values that it answers with, then the heap.
(memory (export "memory") 16)
(func $alloc (param $size i32) (result i32) (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
    (global.set $heap (i32.add (local.get $at) (local.get $size)))
    (block $enough
        (br_if $enough (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
        (drop (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get $size) (i32.const 16))))))
    (local.get $at))
(func $reset (global.set $heap (global.get $image_end)))
