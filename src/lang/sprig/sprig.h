/* Sprig 3.3.0: the functions that templates have in addition to Go's own. One file per kind of function; the table is in
 * sprig.c.
 *
 * All callbacks have the contract of gt-func.h. In sprig the `must` variant of a function returns an error where the plain one
 * ignores it or panics. In templates both errors and panics are `error calling NAME: TEXT`, so most pairs share one callback.
 * Private to this directory. */
#pragma once

#include "buf.h"
#include "gt-func.h"
#include "gt-print.h"

#define SPRIG(name) \
        int sprig_##name(struct gt_context *c, const struct gt_value *arguments, size_t n, struct gt_value *ret)

/* --- sprig-text.c --- */
SPRIG(abbrev);
SPRIG(abbrevboth);
SPRIG(cat);
SPRIG(contains);
SPRIG(has_prefix);
SPRIG(has_suffix);
SPRIG(hello);
SPRIG(indent);
SPRIG(nindent);
SPRIG(plural);
SPRIG(quote);
SPRIG(repeat);
SPRIG(replace);
SPRIG(squote);
SPRIG(substr);
SPRIG(trim);
SPRIG(trim_all);
SPRIG(trim_prefix);
SPRIG(trim_suffix);
SPRIG(trunc);
SPRIG(wrap);
SPRIG(wrap_with);

/* --- sprig-case.c: by letters and words --- */
SPRIG(camelcase);
SPRIG(initials);
SPRIG(kebabcase);
SPRIG(lower);
SPRIG(nospace);
SPRIG(snakecase);
SPRIG(swapcase);
SPRIG(title);
SPRIG(untitle);
SPRIG(upper);

/* --- sprig-strings.c: texts and lists of texts --- */
SPRIG(join);
SPRIG(sort_alpha);
SPRIG(split);
SPRIG(split_list);
SPRIG(splitn);
SPRIG(to_string);
SPRIG(to_strings);

/* The text that toString returns: strings and bytes as they are, errors and Stringers as their text, everything else as %v. */
void sprig_append_text(struct gt_context *c, struct buf *b, struct gt_value v);

/* --- sprig-number.c --- */
SPRIG(add);
SPRIG(add1);
SPRIG(atoi);
SPRIG(ceil);
SPRIG(div);
SPRIG(float64);
SPRIG(floor);
SPRIG(int);
SPRIG(int64);
SPRIG(max);
SPRIG(maxf);
SPRIG(min);
SPRIG(minf);
SPRIG(mod);
SPRIG(mul);
SPRIG(round);
SPRIG(seq);
SPRIG(sub);
SPRIG(to_decimal);
SPRIG(until);
SPRIG(until_step);

/* spf13/cast's conversions: 0 for every value that is not a number. */
int64_t sprig_to_int64(struct gt_value v);
double sprig_to_float64(struct gt_value v);

/* strconv.Atoi without its error: out of range gives the nearest number, any other error gives 0. */
int64_t sprig_parse_decimal(struct str s);

/* --- sprig-decimal.c: arithmetic on decimals --- */
SPRIG(add1f);
SPRIG(addf);
SPRIG(divf);
SPRIG(mulf);
SPRIG(subf);

/* --- sprig-list.c --- */
SPRIG(append);
SPRIG(chunk);
SPRIG(compact);
SPRIG(concat);
SPRIG(first);
SPRIG(has);
SPRIG(initial);
SPRIG(last);
SPRIG(list);
SPRIG(prepend);
SPRIG(rest);
SPRIG(reverse);
SPRIG(slice);
SPRIG(uniq);
SPRIG(without);

/* --- sprig-dict.c --- */
SPRIG(dict);
SPRIG(dig);
SPRIG(get);
SPRIG(has_key);
SPRIG(keys);
SPRIG(omit);
SPRIG(pick);
SPRIG(pluck);
SPRIG(set);
SPRIG(unset);
SPRIG(values);

/* --- sprig-merge.c --- */
SPRIG(deep_copy);
SPRIG(merge);
SPRIG(merge_overwrite);

/* --- sprig-value.c: about values of any kind --- */
SPRIG(all);
SPRIG(any);
SPRIG(coalesce);
SPRIG(deep_equal);
SPRIG(default);
SPRIG(empty);
SPRIG(fail);
SPRIG(kind_is);
SPRIG(kind_of);
SPRIG(ternary);
SPRIG(type_is);
SPRIG(type_is_like);
SPRIG(type_of);

/* True for Go's zero value of the type, and for an empty list, map or text. Structs are never empty. */
bool sprig_is_empty(struct gt_value v);

/* --- sprig-encode.c --- */
SPRIG(adler32sum);
SPRIG(b32dec);
SPRIG(b32enc);
SPRIG(b64dec);
SPRIG(b64enc);
SPRIG(from_json);
SPRIG(must_from_json);
SPRIG(must_to_json);
SPRIG(must_to_pretty_json);
SPRIG(must_to_raw_json);
SPRIG(sha1sum);
SPRIG(sha256sum);
SPRIG(sha512sum);
SPRIG(to_json);
SPRIG(to_pretty_json);
SPRIG(to_raw_json);

/* --- sprig-regex.c --- */
SPRIG(must_regex_find);
SPRIG(must_regex_find_all);
SPRIG(must_regex_match);
SPRIG(must_regex_replace_all);
SPRIG(must_regex_replace_all_literal);
SPRIG(must_regex_split);
SPRIG(regex_find);
SPRIG(regex_find_all);
SPRIG(regex_match);
SPRIG(regex_quote_meta);
SPRIG(regex_replace_all);
SPRIG(regex_replace_all_literal);
SPRIG(regex_split);

/* --- sprig-date.c --- */
SPRIG(ago);
SPRIG(date);
SPRIG(date_in_zone);
SPRIG(date_modify);
SPRIG(duration);
SPRIG(duration_round);
SPRIG(html_date);
SPRIG(html_date_in_zone);
SPRIG(must_date_modify);
SPRIG(must_to_date);
SPRIG(now);
SPRIG(to_date);
SPRIG(unix_epoch);

/* --- sprig-semver.c --- */
SPRIG(semver);
SPRIG(semver_compare);

/* --- sprig-path.c --- */
SPRIG(base);
SPRIG(clean);
SPRIG(dir);
SPRIG(ext);
SPRIG(is_abs);

/* --- sprig-url.c --- */
SPRIG(get_host_by_name);
SPRIG(url_join);
SPRIG(url_parse);

/* --- sprig-random.c --- */
SPRIG(rand_alpha);
SPRIG(rand_alpha_num);
SPRIG(rand_ascii);
SPRIG(rand_bytes);
SPRIG(rand_int);
SPRIG(rand_numeric);
SPRIG(shuffle);
SPRIG(uuidv4);

/* --- sprig-crypto.c --- */
SPRIG(bcrypt);
SPRIG(decrypt_aes);
SPRIG(derive_password);
SPRIG(encrypt_aes);
SPRIG(htpasswd);

/* --- sprig-certificate.c --- */
SPRIG(build_custom_cert);
SPRIG(gen_ca);
SPRIG(gen_ca_with_key);
SPRIG(gen_private_key);
SPRIG(gen_self_signed_cert);
SPRIG(gen_self_signed_cert_with_key);
SPRIG(gen_signed_cert);
SPRIG(gen_signed_cert_with_key);

/* Returns the text as the result. The text is in the context's arena, in an argument or a constant. */
static inline int sprig_return_text(struct str text, struct gt_value *ret)
{
        *ret = gt_string(text);
        return 0;
}

static inline int sprig_return_bool(bool b, struct gt_value *ret)
{
        *ret = gt_bool(b);
        return 0;
}
