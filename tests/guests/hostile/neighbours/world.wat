;; A well-behaved environment: the prelude's, as it is.
