(func (export "loopwright:afv/tool@0.1.0#describe") (result i32) (global.get $identity))
(func (export "loopwright:afv/tool@0.1.0#specs") (result i32) (global.get $catalogue))
(func (export "cabi_post_loopwright:afv/tool@0.1.0#call") (param i32) (call $reset))
