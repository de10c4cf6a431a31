#pragma once
#include <http_parser.h>

/* The fields of a URL stand in an array of unnamed structs, which Swift does not import. */
static inline uint16_t bw_url_field_offset(const struct http_parser_url *url, enum http_parser_url_fields field) {
    return url->field_data[field].off;
}
static inline uint16_t bw_url_field_length(const struct http_parser_url *url, enum http_parser_url_fields field) {
    return url->field_data[field].len;
}
