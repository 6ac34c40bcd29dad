# One set of warnings and sanitizers for every target of the tree.
add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
                    -Wpointer-arith -Wformat=2 -Wvla -Wno-unused-parameter)
if(DROVER_WERROR)
  add_compile_options(-Werror)
endif()
if(DROVER_SANITIZE)
  add_compile_options(-fsanitize=${DROVER_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DROVER_SANITIZE})
endif()
