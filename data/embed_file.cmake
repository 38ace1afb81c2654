# cmake -D INPUT=file -D OUTPUT=file.cpp -D NAME=identifier -P embed_file.cmake
# Writes a C++ source in which the bytes of a file are the array rubato::data::NAME, and NAME_size
# their number.
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${OUTPUT}"
"#include <cstddef>
namespace rubato::data {
extern const unsigned char ${NAME}[];
extern const std::size_t ${NAME}_size;
const unsigned char ${NAME}[] = {
${bytes}
};
const std::size_t ${NAME}_size = ${size};
}  // namespace rubato::data
")
