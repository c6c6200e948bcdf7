#include "test.h"

#include "base64.h"
#include "buf.h"
#include "json.h"
#include "limits.h"
#include "proto-tables.h"
#include "test-proto-tables.h"

#define ALL (&test_proto_v1_AllTypes)
#define FEW (&test_proto_v1_Few)

static struct arena arena;

__attribute__((constructor)) static void start(void)
{
        arena_init(&arena, "test", 0);
}

__attribute__((destructor)) static void end(void)
{
        arena_done(&arena);
        arena_trim_cache();
}

static int digit_of(char c)
{
        return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* The bytes with nothing behind them, so that an overrun is seen. */
static struct str from_hex(const char *hex)
{
        size_t n = strlen(hex) / 2;
        char *p = arena_alloc_aligned(&arena, n, 1);

        for (size_t i = 0; i < n; i++)
                p[i] = (char)(digit_of(hex[2 * i]) << 4 | digit_of(hex[2 * i + 1]));
        return str_make(p, n);
}

static struct str to_hex(struct str bytes)
{
        char *p = arena_alloc(&arena, 2 * bytes.n + 1);

        for (size_t i = 0; i < bytes.n; i++)
                snprintf(p + 2 * i, 3, "%02x", (unsigned char)bytes.p[i]);
        return str_make(p, 2 * bytes.n);
}

static const struct value *from_json(const char *text)
{
        const struct value *v = NULL;
        _cleanup_err_ struct err err = { 0 };

        if (json_parse(&arena, str_from(text), NULL, &v, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", text, err_message(&err));
        return v;
}

static struct str to_json(const struct value *v)
{
        struct str text = STR("?");

        json_to_str(&arena, v, JSON_SORT_KEYS, &text, NULL);
        return text;
}

/* Canonical JSON text, for comparing. */
static struct str same_json(const char *text)
{
        return to_json(from_json(text));
}

static struct str encode(const struct proto_message *m, const struct value *v, unsigned flags)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        struct proto_options options = { .flags = flags };

        if (proto_encode(&b, m, v, &options, &err) < 0)
                return arena_printf(&arena, "error: %s", err_message(&err));
        return to_hex(buf_to_arena(&b, &arena));
}

static struct str decode(const struct proto_message *m, struct str bytes, unsigned flags)
{
        _cleanup_err_ struct err err = { 0 };
        struct proto_options options = { .flags = flags };
        const struct value *v;

        if (proto_decode(&arena, m, bytes, &options, &v, &err) < 0)
                return arena_printf(&arena, "error: %s", err_message(&err));
        return to_json(v);
}

/* The bytes that Go's protojson and deterministic proto.Marshal make of a weft.test.v1.AllTypes; NULL where protojson refuses. */
static const struct {
        const char *json;
        const char *hex;
} encode_cases[] = {
        { "{\"choiceInt32\":1,\"byString\":{\"b\":\"\",\"a\":\"x\"},\"last\":3,\"strange_Name_1x\":5}",
          "ea03060a0161120178ea03050a01621200a01f05f8ffffff0f03980301" },
        { "{\"@odd-name\":1}", "a01f01" },
        { "{\"strangeName1x\":1}", NULL },
        { "{\"a_bool\":true,\"aBool\":true}", NULL },
        { "{\"aBool\":null}", "" },
        { "{\"bools\":null}", "" },
        { "{\"bools\":[null]}", NULL },
        { "{\"messages\":[null]}", NULL },
        { "{\"values\":[null]}", "ba05020800" },
        { "{\"byString\":{\"a\":null}}", NULL },
        { "{\"byInt64\":{\"1\":null}}", NULL },
        { "{\"bySint32\":{\"1\":null}}", "920406080212020800" },
        { "{\"choiceInt32\":null,\"choiceString\":\"x\"}", "a2030178" },
        { "{\"choiceInt32\":1,\"choiceString\":\"x\"}", NULL },
        { "{\"choiceValue\":null,\"choiceString\":\"x\"}", NULL },
        { "{\"choiceValue\":null}", "b203020800" },
        { "{\"aValue\":null}", "9205020800" },
        { "{\"aMessage\":null}", "" },
        { "{\"anInt32\":\"1\"}", "2801" },
        { "{\"anInt32\":\"1.0\"}", "2801" },
        { "{\"anInt32\":1.0}", "2801" },
        { "{\"anInt32\":1e2}", "2864" },
        { "{\"anInt32\":\"1e2\"}", "2864" },
        { "{\"anInt32\":\" 1\"}", NULL },
        { "{\"anInt32\":\"1 \"}", NULL },
        { "{\"anInt32\":\"\"}", NULL },
        { "{\"anInt32\":\"+1\"}", NULL },
        { "{\"anInt32\":\"01\"}", NULL },
        { "{\"anInt32\":1.5}", NULL },
        { "{\"anInt32\":2147483648}", NULL },
        { "{\"anInt32\":-2147483648}", "2880808080f8ffffffff01" },
        { "{\"anInt32\":-0.0}", "" },
        { "{\"aUint32\":-0.0}", "" },
        { "{\"aUint32\":\"-0\"}", "" },
        { "{\"aUint32\":\"-1\"}", NULL },
        { "{\"aUint32\":\"-0.0\"}", "" },
        { "{\"anInt64\":\"9223372036854775807.000\"}", "18ffffffffffffffff7f" },
        { "{\"anInt64\":\"922337203685477580.7e1\"}", "18ffffffffffffffff7f" },
        { "{\"aUint64\":\"1e19\"}", "208080a0cfc8e0c8e38a01" },
        { "{\"anInt64\":\"1e1000000\"}", NULL },
        { "{\"anInt64\":\"0e1000000\"}", "" },
        { "{\"anInt64\":\"10e-1\"}", "1801" },
        { "{\"aDouble\":\"1\"}", "09000000000000f03f" },
        { "{\"aDouble\":\"NaN\"}", "09010000000000f87f" },
        { "{\"aDouble\":\"nan\"}", NULL },
        { "{\"aDouble\":\"Infinity\"}", "09000000000000f07f" },
        { "{\"aDouble\":\"-Infinity\"}", "09000000000000f0ff" },
        { "{\"aDouble\":\"+Infinity\"}", NULL },
        { "{\"aDouble\":\"1e400\"}", NULL },
        { "{\"aDouble\":-0.0}", "090000000000000080" },
        { "{\"aDouble\":0}", "" },
        { "{\"aFloat\":1e39}", NULL },
        { "{\"aFloat\":0.1}", "15cdcccc3d" },
        { "{\"aFloat\":3.4028235e38}", "15ffff7f7f" },
        { "{\"aFloat\":3.40282356e38}", "15ffff7f7f" },
        { "{\"aFloat\":3.4028236e38}", NULL },
        { "{\"aFloat\":\"-0\"}", "1500000080" },
        { "{\"aDouble\":\"\"}", NULL },
        { "{\"aDouble\":\" 1\"}", NULL },
        { "{\"aDouble\":\"0x1p3\"}", NULL },
        { "{\"aBool\":\"true\"}", NULL },
        { "{\"aBool\":1}", NULL },
        { "{\"aString\":1}", NULL },
        { "{\"aBytes\":\"AQ==\"}", "620101" },
        { "{\"aBytes\":\"AQ\"}", "620101" },
        { "{\"aBytes\":\"-_8\"}", "6202fbff" },
        { "{\"aBytes\":\"A\"}", NULL },
        { "{\"aBytes\":\"AQ=\"}", NULL },
        { "{\"aBytes\":\"A\\nQ==\"}", NULL },
        { "{\"aBytes\":\"+_\"}", NULL },
        { "{\"aBytes\":\"AR==\"}", "620101" },
        { "{\"aBytes\":\"\"}", "" },
        { "{\"aBytes\":1}", NULL },
        { "{\"aColor\":1}", "7001" },
        { "{\"aColor\":\"COLOR_RED\"}", "7001" },
        { "{\"aColor\":\"1\"}", NULL },
        { "{\"aColor\":7}", "7007" },
        { "{\"aColor\":-1}", "70ffffffffffffffffff01" },
        { "{\"aColor\":\"NOPE\"}", NULL },
        { "{\"aColor\":1.0}", "7001" },
        { "{\"aColor\":1.5}", NULL },
        { "{\"aColor\":2147483648}", NULL },
        { "{\"aColor\":true}", NULL },
        { "{\"colors\":[\"COLOR_RED\",\"COLOR_NEGATIVE\",7]}", "92020c01ffffffffffffffffff0107" },
        { "{\"aDuration\":\"1s\"}", "a205020801" },
        { "{\"aDuration\":\"1.5s\"}", "a2050808011080cab5ee01" },
        { "{\"aDuration\":\"-1.5s\"}", "a2051608ffffffffffffffffff011080b6ca91feffffffff01" },
        { "{\"aDuration\":\"+1.5s\"}", "a2050808011080cab5ee01" },
        { "{\"aDuration\":\"-0.5s\"}", "a2050b1080b6ca91feffffffff01" },
        { "{\"aDuration\":\".5s\"}", "a205061080cab5ee01" },
        { "{\"aDuration\":\"1.s\"}", "a205020801" },
        { "{\"aDuration\":\"1.1234567891s\"}", NULL },
        { "{\"aDuration\":\"1\"}", NULL },
        { "{\"aDuration\":\"s\"}", NULL },
        { "{\"aDuration\":\"-s\"}", NULL },
        { "{\"aDuration\":\"1m\"}", NULL },
        { "{\"aDuration\":\"315576000000s\"}", "a205070880bcaece9709" },
        { "{\"aDuration\":\"315576000001s\"}", NULL },
        { "{\"aDuration\":\"315576000000.5s\"}", "a2050d0880bcaece97091080cab5ee01" },
        { "{\"aDuration\":\"01s\"}", NULL },
        { "{\"aDuration\":\"00s\"}", NULL },
        { "{\"aDuration\":\"1e3s\"}", NULL },
        { "{\"aDuration\":\" 1s\"}", NULL },
        { "{\"aDuration\":1}", NULL },
        { "{\"aDuration\":{}}", NULL },
        { "{\"aDuration\":\"0s\"}", "a20500" },
        { "{\"aDuration\":\"-0s\"}", "a20500" },
        { "{\"aDuration\":\"99999999999999999999s\"}", NULL },
        { "{\"aTimestamp\":\"2024-01-01T00:00:00Z\"}", "aa0506088081c8ac06" },
        { "{\"aTimestamp\":\"2024-01-01T00:00:00.5+01:00\"}", "aa050c08f0e4c7ac061080cab5ee01" },
        { "{\"aTimestamp\":\"2024-01-01T00:00:00.1234567891Z\"}", NULL },
        { "{\"aTimestamp\":\"0001-01-01T00:00:00Z\"}", "aa050b088092b8c398feffffff01" },
        { "{\"aTimestamp\":\"0000-12-31T23:59:59Z\"}", NULL },
        { "{\"aTimestamp\":\"9999-12-31T23:59:59.999999999Z\"}", "aa050d08ff82d1ffaf0710ff93ebdc03" },
        { "{\"aTimestamp\":\"9999-12-31T23:59:59-01:00\"}", NULL },
        { "{\"aTimestamp\":\"2024-01-01 00:00:00Z\"}", NULL },
        { "{\"aTimestamp\":\"2024-01-01T00:00:00,5Z\"}", "aa050c088081c8ac061080cab5ee01" },
        { "{\"aTimestamp\":\"2024-01-01t00:00:00z\"}", NULL },
        { "{\"aTimestamp\":\"2024-01-01T00:00:00.Z\"}", NULL },
        { "{\"aTimestamp\":\"2024-1-1T00:00:00Z\"}", NULL },
        { "{\"aTimestamp\":\"2024-01-01T0:00:00Z\"}", "aa0506088081c8ac06" },
        { "{\"aTimestamp\":1}", NULL },
        { "{\"aTimestamp\":\"2024-01-01T24:00:00Z\"}", NULL },
        { "{\"aTimestamp\":\"2016-12-31T23:59:60Z\"}", NULL },
        { "{\"byInt32\":{\"1\":1,\"-1\":2,\"10\":3,\"9\":4}}",
          "f2030d08ffffffffffffffffff011002f2030408011001f2030408091004f20304080a1003" },
        { "{\"byInt32\":{\"1.0\":1}}", NULL },
        { "{\"byInt32\":{\"1\":1,\"1.0\":2}}", NULL },
        { "{\"byInt32\":{\" 1\":1}}", NULL },
        { "{\"byInt32\":{\"\":1}}", NULL },
        { "{\"byBool\":{\"true\":\"a\",\"false\":\"b\"}}", "c204050800120162c204050801120161" },
        { "{\"byBool\":{\"True\":\"a\"}}", NULL },
        { "{\"byUint64\":{\"18446744073709551615\":1,\"2\":0}}", "8a0404080210008a040d08ffffffffffffffffff011001" },
        { "{\"byUint32\":{\"-0\":\"\"}}", NULL },
        { "{\"bySint64\":{\"-1\":1,\"1\":2}}", "9a040b080111000000000000f03f9a040b0802110000000000000040" },
        { "{\"byInt32\":{\"1e1\":1}}", NULL },
        { "{\"aStruct\":1}", NULL },
        { "{\"aStruct\":null}", "" },
        { "{\"aList\":null}", "" },
        { "{\"aList\":{}}", NULL },
        { "{\"aStruct\":{\"a\":null,\"b\":[{}],\"c\":{}}}",
          "8a051f0a070a0161120208000a0b0a0162120632040a022a000a070a016312022a00" },
        { "{\"aMessage\":[]}", NULL },
        { "{\"nope\":1}", NULL },
        { "{\"nope\":null}", NULL },
        { "[]", NULL },
        { "null", NULL },
        { "1", NULL },
        { "{\"aValue\":\"NaN\"}", "9205051a034e614e" },
        { "{\"unpacked\":[1,2]}", "b80201b80202" },
        { "{\"int32s\":[1,-1]}", "ca010b01ffffffffffffffffff01" },
        { "{\"maybeInt32\":0,\"maybeString\":\"\",\"maybeColor\":0,\"maybeBytes\":\"\",\"maybeDouble\":0}",
          "c80200d20200d80200e20200e9020000000000000000" },
        { "{\"maybeInt32\":null}", "" },
        { "{\"int32s\":1}", NULL },
        { "{\"byString\":[]}", NULL },
        { "{\"durations\":[null]}", NULL },
        { "{\"structs\":[null]}", NULL },
        { "{\"lists\":[null]}", NULL },
        { "{\"aValue\":[true,false,null,1,\"x\",{\"a\":true,\"b\":null}]}",
          "92053432320a0220010a0220000a0208000a0911000000000000f03f0a031a01780a142a120a070a0161120220010a070a0162120208"
          "00" },
        { "{\"aStruct\":{\"bb\":1,\"b\":2,\"ba\":3,\"\":4,\"b\\u0000\":5,\"\\u00e9\":6,\"z\":7,\"longer than eight "
          "bytes\":8,"
          "\"longer than eight\":9}}",
          "8a05b9010a0d0a0012091100000000000010400a0e0a016212091100000000000000400a0f0a02620012091100000000000014400a0f"
          "0a026261"
          "12091100000000000008400a0f0a026262120911000000000000f03f0a1e0a116c6f6e676572207468616e2065696768741209110000"
          "00000000"
          "22400a240a176c6f6e676572207468616e20656967687420627974657312091100000000000020400a0e0a017a120911000000000000"
          "1c400a0f"
          "0a02c3a91209110000000000001840" },
        { "{\"aDuration\":\"0.5s\",\"durations\":[\"0.000500s\",\"0.000000005s\"]}",
          "a205061080cab5ee01ca050410a0c21eca05021005" },
};

TEST(encodes_as_go)
{
        for (size_t i = 0; i < ARRAY_SIZE(encode_cases); i++) {
                const char *json = encode_cases[i].json;
                struct str got = encode(ALL, from_json(json), 0);

                if (encode_cases[i].hex)
                        ASSERT_STR_CASE(json, got, str_from(encode_cases[i].hex));
                else
                        ASSERT_CASE(json, str_starts_with(got, STR("error: cannot encode weft.test.v1.AllTypes: ")));
        }
}

TEST(reads_back_what_it_writes)
{
        for (size_t i = 0; i < ARRAY_SIZE(encode_cases); i++) {
                const struct value *v;

                if (!encode_cases[i].hex)
                        continue;
                ASSERT_CASE(encode_cases[i].json,
                            proto_decode(&arena, ALL, from_hex(encode_cases[i].hex), NULL, &v, NULL) == 0);
                ASSERT_STR_CASE(encode_cases[i].json, encode(ALL, v, 0), str_from(encode_cases[i].hex));
        }
}

/* The JSON that Go's proto.Unmarshal and protojson make of the bytes; NULL where one of them refuses. Values without a kind, which
 * protojson cannot print, are null here. Last, the unknown fields that the message keeps. */
#define UNSET "?"
static const struct {
        const char *hex;
        const char *json;
        const char *unknown;
} decode_cases[] = {
        { "28ffffffffffffffffff01", "{\"anInt32\":-1}", "" },
        { "28ffffffffffffffffff02", NULL, "" },
        { "28ffffffffff7f", "{\"anInt32\":-1}", "" },
        { "28ffffffff0f", "{\"anInt32\":-1}", "" },
        { "688080808010", "{}", "" },
        { "4002", "{\"aBool\":true}", "" },
        { "40ffffffffffffffffff01", "{\"aBool\":true}", "" },
        { "708080808010", "{}", "" },
        { "7007", "{\"aColor\":7}", "" },
        { "70ffffffffffffffffff01", "{\"aColor\":\"COLOR_NEGATIVE\"}", "" },
        { "880103", "{\"anSint32\":-2}", "" },
        { "8801ffffffffffffffffff01", "{\"anSint32\":-2147483648}", "" },
        { "9001ffffffffffffffffff01", "{\"anSint64\":\"-9223372036854775808\"}", "" },
        { "2a0101", "{}", "2a0101" },
        { "aa0100", "{}", "" },
        { "ca0101", NULL, "" },
        { "ca010101", "{\"int32s\":[1]}", "" },
        { "ca0103010203", "{\"int32s\":[1,2,3]}", "" },
        { "c80101", "{\"int32s\":[1]}", "" },
        { "c801ffff", NULL, "" },
        { "0300", NULL, "" },
        { "0b0c", "{}", "0b0c" },
        { "0b14", NULL, "" },
        { "0b0b0c0c", "{}", "0b0b0c0c" },
        { "0c", NULL, "" },
        { "0001", NULL, "" },
        { "0000", NULL, "" },
        { "f8ffffff0f01", "{\"last\":1}", "" },
        { "f8ffffff1f01", NULL, "" },
        { "8080808080808080808001", NULL, "" },
        { "fa00", NULL, "" },
        { "0f", NULL, "" },
        { "0e", NULL, "" },
        { "5a0228015a024a00", "{\"aMessage\":{\"anInt32\":1}}", "" },
        { "5a0228015a0228025a024a0178", NULL, "" },
        { "9a0301009a030128", "{}", "9a0301009a030128" },
        { "9a0302280198030a", "{\"choiceInt32\":10}", "9a03022801" },
        { "9803019a03022801aa034800", NULL, "" },
        { "9a030228019a03024a00", "{}", "9a030228019a03024a00" },
        { "9a030228019803019a03024a0178", NULL, "" },
        { "ea030161", NULL, "" },
        { "ea0300", "{\"byString\":{\"\":\"\"}}", "" },
        { "ea030a0a016112016212016261", NULL, "" },
        { "ea03060a01611a0162", "{\"byString\":{\"a\":\"\"}}", "" },
        { "ea03020a01", NULL, "" },
        { "ea03050a01ff1200", NULL, "" },
        { "4a01ff", NULL, "" },
        { "f2030408011001", "{\"byInt32\":{\"1\":1}}", "" },
        { "f20300f20300", "{\"byInt32\":{\"0\":0}}", "" },
        { "f2030208051000", "{\"byInt32\":{\"5\":0}}", "1000" },
        { "fa03021a00", "{\"byInt64\":{\"0\":{}}}", "" },
        { "92050708011203110000", "{\"aValue\":null}", "" },
        { "8a05090a0712052a030a0100", NULL, "" },
        { "92050d2a050a030a01612a040a020a00", UNSET, "" },
        { "92050420012000", "{\"aValue\":false}", "" },
        { "a20502080a", "{\"aDuration\":\"10s\"}", "" },
        { "a205021005", "{\"aDuration\":\"0.000000005s\"}", "" },
        { "a2050b08ffffffffffffffffff01", "{\"aDuration\":\"-1s\"}", "" },
        { "a2050408011801", "{\"aDuration\":\"1s\"}", "" },
        { "a2050d08ffffffffffffffffff0110ff", NULL, "" },
        { "aa050c08ffffffffffffffffff01", NULL, "" },
        { "aa05021001", "{\"aTimestamp\":\"1970-01-01T00:00:00.000000001Z\"}", "" },
        { "a20503088002", "{\"aDuration\":\"256s\"}", "" },
        { "920509", NULL, "" },
        { "92050911000000000000f07f", NULL, "" },
        { "9205021001", UNSET, "" },
        { "92050a120800000000000000", NULL, "" },
        { "a2060101", "{}", "a2060101" },
        { "3a04", NULL, "" },
        { "9205020801", "{\"aValue\":null}", "" },
        { "9205022002", "{\"aValue\":true}", "" },
        { "9205022007", "{\"aValue\":true}", "" },
        { "9a05040a000a00", UNSET, "" },
        { "920500", UNSET, "" },
        { "8a05080a060a01611200", NULL, "" },
        { "8a05050a030a0161", UNSET, "" },
        { "8a05040a021200", UNSET, "" },
        { "a205021100", NULL, "" },
        { "15cdcccc3d", "{\"aFloat\":0.1}", "" },
        { "1500000080", "{\"aFloat\":-0.0}", "" },
        { "150000c07f", "{\"aFloat\":\"NaN\"}", "" },
        { "fd0101", NULL, "" },
        { "5a0228015a034a0178", "{\"aMessage\":{\"anInt32\":1,\"aString\":\"x\"}}", "" },
        { "5a02280128075a0228025a00", "{\"anInt32\":7,\"aMessage\":{\"anInt32\":2}}", "" },
        { "5a105a022801c80101ea03060a01611201315a115a034a0179c80102ea03060a0161120132",
          "{\"aMessage\":{\"aMessage\":{\"anInt32\":1,\"aString\":\"y\"},\"int32s\":[1,2],\"byString\":{\"a\":\"2\"}}}",
          "" },
        { "5a045a0228015a025a01", NULL, "" },
        { "980301a2030178", "{\"choiceString\":\"x\"}", "" },
        { "a2030178980300", "{\"choiceInt32\":0}", "" },
        { "aa03022801980300aa03034a0178", "{\"choiceMessage\":{\"aString\":\"x\"}}", "" },
        { "aa03022801aa03034a0178", "{\"choiceMessage\":{\"anInt32\":1,\"aString\":\"x\"}}", "" },
        { "aa03022801aa03034a0178b203022001", "{\"choiceValue\":true}", "" },
        { "aa030128980301", NULL, "" },
        { "aa03034a01ff980301", NULL, "" },
        { "980303aa030128", NULL, "" },
        { "b203122a100a0e0a0161120911000000000000f03fb203122a100a0e0a0162120911000000000000f03f",
          "{\"choiceValue\":{\"a\":1,\"b\":1}}", "" },
        { "b2030911000000000000f03fb203031a0178", "{\"choiceValue\":\"x\"}", "" },
        { "9a030a77726f6e672077697265a00303", "{}", "9a030a77726f6e672077697265a00303" },
        { "92052d2a100a0e0a0161120911000000000000f03f11000000000000f03f2a100a0e0a01621209110000000000000040",
          "{\"aValue\":{\"b\":2}}", "" },
        { "9205342a100a0e0a0161120911000000000000f03f2a200a0e0a016212091100000000000000400a0e0a016112091100000000000000"
          "40",
          "{\"aValue\":{\"a\":2,\"b\":2}}", "" },
        { "92051f2a100a0e0a0161120911000000000000f03f320b0a0911000000000000f03f", "{\"aValue\":[1]}", "" },
        { "92051a320b0a0911000000000000f03f320b0a09110000000000000040", "{\"aValue\":[1,2]}", "" },
        { "92050d320b0a0911000000000000f03f920511320f0a091100000000000000400a020800", "{\"aValue\":[1,2,null]}", "" },
        { "92050d320b0a0911000000000000f03f920509110000000000000040", "{\"aValue\":2}", "" },
        { "92050c2a010a11000000000000f03f", NULL, "" },
        { "92050c1a01ff11000000000000f03f", NULL, "" },
        { "92051211000000000000f07f11000000000000f03f", "{\"aValue\":1}", "" },
        { "92050f11000000000000f03f3801a238013f", "{\"aValue\":1}", "" },
        { "92050320ac02", "{\"aValue\":true}", "" },
        { "92050308ac02", "{\"aValue\":null}", "" },
        { "9205021a008a05009a0500", "{\"aStruct\":{},\"aValue\":\"\",\"aList\":[]}", "" },
        { "fa030b12022801080912034a0178", "{\"byInt64\":{\"9\":{\"anInt32\":1,\"aString\":\"x\"}}}", "" },
        { "fa030408090808", "{\"byInt64\":{\"8\":{}}}", "" },
        { "ea03091201760a016b1a013f", "{\"byString\":{\"k\":\"v\"}}", "" },
        { "ea03060a016b120131ea03060a016a120132ea03060a016b120133", "{\"byString\":{\"j\":\"2\",\"k\":\"3\"}}", "" },
        { "ea03050805120131", "{\"byString\":{\"\":\"1\"}}", "" },
        { "9204200801120d320b0a0911000000000000f03f120d320b0a09110000000000000040", "{\"bySint32\":{\"-1\":[1,2]}}",
          "" },
        { "aa0409090500000000000000b204050dffffffffba0400c2040208018a040208039a0400a204070d090000001002820400",
          "{\"byUint32\":{\"0\":\"\"},\"byUint64\":{\"3\":\"COLOR_NONE\"},\"bySint64\":{\"0\":0},\"byFixed32\":{\"9\":"
          "true},\"byFixed64\":{\"5\":\"0s\"},\"bySfixed32\":{\"-1\":{}},\"bySfixed64\":{\"0\":[]},\"byBool\":{"
          "\"true\":\"\"}}",
          "" },
        { "8a05230a210a0161120d320b0a0911000000000000f03f120d320b0a09110000000000000040", "{\"aStruct\":{\"a\":[1,2]}}",
          "" },
        { "8a05100a0e120911000000000000f03f0a0161", "{\"aStruct\":{\"a\":1}}", "" },
        { "8a05130a110a01610a0162120911000000000000f03f", "{\"aStruct\":{\"b\":1}}", "" },
        { "8a05300a0e0a0162120911000000000000f03f0a0e0a0161120911000000000000f03f0a0e0a01621209110000000000000040",
          "{\"aStruct\":{\"a\":1,\"b\":2}}", "" },
        { "8a05150a0e0a0161120911000000000000f03f080312013f", "{\"aStruct\":{\"a\":1}}", "" },
        { "8a05100a0e0a0161120911000000000000f03f8a05200a0e0a016212091100000000000000400a0e0a0161120911000000000000004"
          "0",
          "{\"aStruct\":{\"a\":2,\"b\":2}}", "" },
        { "8a05110a0f0a0261ff120911000000000000f03f", NULL, "" },
        { "8a05120a0e0a0161120911000000000000f03f0b0c", "{\"aStruct\":{\"a\":1}}", "" },
        { "c80101ca01020203c80104", "{\"int32s\":[1,2,3,4]}", "" },
        { "b80201ba02020203", "{\"unpacked\":[1,2,3]}", "" },
        { "aa0108000000000000f03fa9010000000000000040", "{\"doubles\":[1,2]}", "" },
        { "b201080000803f00000040", "{\"floats\":[1,2]}", "" },
        { "b201070000803f000000", NULL, "" },
        { "e201040001ff01", "{\"bools\":[false,true,true]}", "" },
        { "92020d0001ffffffffffffffffff0105", "{\"colors\":[\"COLOR_NONE\",\"COLOR_RED\",\"COLOR_NEGATIVE\",5]}", "" },
        { "aa020401020304b2020affffffffffffffffff01",
          "{\"sint32s\":[-1,1,-2,2],\"sint64s\":[\"-9223372036854775808\"]}", "" },
        { "ca0101ff", NULL, "" },
        { "ea010161ea0100ea0102c3a9", "{\"strings\":[\"a\",\"\",\"é\"]}", "" },
        { "ea0101ff", NULL, "" },
        { "fa0100fa0102280182020082020200ff", "{\"messages\":[{},{\"anInt32\":1}],\"byteses\":[\"\",\"AP8=\"]}", "" },
        { "b20500ba050911000000000000f03fc20500ca05020801d20500",
          "{\"structs\":[{}],\"values\":[1],\"lists\":[[]],\"durations\":[\"1s\"],\"timestamps\":[\"1970-01-01T00:00:"
          "00Z\"]}",
          "" },
        { "ca050408010802a205020805a205021007", "{\"aDuration\":\"5.000000007s\",\"durations\":[\"2s\"]}", "" },
        { "a205070881bcaece9709", NULL, "" },
        { "a2050d080110ffffffffffffffffff01", NULL, "" },
        { "a20506108094ebdc03", NULL, "" },
        { "aa050b10ffffffffffffffffff01", NULL, "" },
        { "aa0507088083d1ffaf07", NULL, "" },
        { "aa050d08ff82d1ffaf0710ff93ebdc03", "{\"aTimestamp\":\"9999-12-31T23:59:59.999999999Z\"}", "" },
        { "aa051008ffffffffffffffffff0110809c9c39", "{\"aTimestamp\":\"1969-12-31T23:59:59.120Z\"}", "" },
        { "09000000000000f07f15000080ff", "{\"aDouble\":\"Infinity\",\"aFloat\":\"-Infinity\"}", "" },
        { "09050000000000f87f", "{\"aDouble\":\"NaN\"}", "" },
        { "090000000000000080e9020000000000000000", "{\"aDouble\":-0.0,\"maybeDouble\":0}", "" },
        { "18808080808080808080012080808080808080808001310000000000000080810100000000000000803d000000807d0000008068ffff"
          "ffff0f",
          "{\"anInt64\":\"-9223372036854775808\",\"aUint64\":\"9223372036854775808\",\"aFixed64\":"
          "\"9223372036854775808\",\"aFixed32\":2147483648,\"aUint32\":4294967295,\"anSfixed32\":-2147483648,"
          "\"anSfixed64\":\"-9223372036854775808\"}",
          "" },
        { "c80200d20200d80200e20200",
          "{\"maybeInt32\":0,\"maybeString\":\"\",\"maybeColor\":\"COLOR_NONE\",\"maybeBytes\":\"\"}", "" },
        { "a01f01f8ffffff0f02", "{\"@odd-name\":1,\"last\":2}", "" },
        { "15abaaaa3eb5018096184bb50101000000b501ffff7f7fb5010100803f",
          "{\"aFloat\":0.33333334,\"floats\":[10000000,1e-45,3.4028235e+38,1.0000001]}", "" },
        { "2801280228004a01614a00", "{}", "" },
        { "28012b2c30013501000000", "{\"anInt32\":1}", "2b2c30013501000000" },
};

TEST(decodes_as_go)
{
        for (size_t i = 0; i < ARRAY_SIZE(decode_cases); i++) {
                const char *hex = decode_cases[i].hex, *json = decode_cases[i].json;
                struct str bytes = from_hex(hex), got = decode(ALL, bytes, 0);

                if (!json)
                        ASSERT_CASE(hex, str_starts_with(got, STR("error: cannot decode weft.test.v1.AllTypes: ")));
                else if (strcmp(json, UNSET) == 0)
                        ASSERT_CASE(hex, str_find(got, STR("null")) > 0);
                else
                        ASSERT_STR_CASE(hex, got, same_json(json));
                ASSERT_STR_CASE(hex, decode(ALL, bytes, PROTO_BORROW_BYTES), got);
        }
}

TEST(keeps_unknown_fields)
{
        for (size_t i = 0; i < ARRAY_SIZE(decode_cases); i++) {
                struct proto_options options = { .flags = PROTO_KEEP_UNKNOWN };
                _cleanup_buf_ struct buf unknown = BUF_INIT(0);
                const struct value *v;

                if (!decode_cases[i].json ||
                    proto_decode(&arena, ALL, from_hex(decode_cases[i].hex), &options, &v, NULL) < 0)
                        continue;
                base64_decode_any(&unknown, value_str(value_get(v, PROTO_UNKNOWN_KEY)), NULL);
                ASSERT_STR_CASE(decode_cases[i].hex, to_hex(buf_str(&unknown)), str_from(decode_cases[i].unknown));
                ASSERT_CASE(decode_cases[i].hex,
                            str_ends_with(encode(ALL, v, PROTO_KEEP_UNKNOWN), str_from(decode_cases[i].unknown)));
        }
}

TEST(names_message_and_field_in_errors)
{
        static const struct {
                const char *hex;
                const char *error;
        } bad_bytes[] = {
                { "28", "the message is truncated" },
                { "28ffffffffffffffffffff01", "a varint does not fit 64 bits" },
                { "0001", "a field number is not valid" },
                { "0f", "a wire type is not valid" },
                { "0c", "a group ends that did not begin" },
                { "0b", "a group does not end" },
                { "0b0f0c", "a wire type is not valid" },
                { "0b00", "a field number is not valid" },
                { "4affffffff0761", "a length goes beyond the end of the message" },
                { "3a04", "a length goes beyond the end of the message" },
                { "4a01ff", "field aString: a string is not valid UTF-8" },
                { "5a055a034a01ff", "field aMessage.aMessage.aString: a string is not valid UTF-8" },
                { "fa0100fa01034a01ff", "field messages[1].aString: a string is not valid UTF-8" },
                { "ea03050a01ff1200", "field byString: a string is not valid UTF-8" },
                { "ea03060a01611201ff", "field byString: a string is not valid UTF-8" },
                { "fa03070807120328ffff", "field byInt64[7]: the message is truncated" },
                { "c20406080112024aff", "field byBool: a string is not valid UTF-8" },
                { "8a05110a0f0a0261ff120911000000000000f03f", "field aStruct: a key is not valid UTF-8" },
                { "8a05090a07120511050a01ff", "field aStruct[]: the message is truncated" },
                { "8a05080a060a011a12010a", "field aStruct[\x1a]: a length goes beyond the end of the message" },
                { "8a050a0a080a016112031a01ff", "field aStruct[a]: a string is not valid UTF-8" },
                { "9a05090a0020000a031a01ff", "field aList[1]: a string is not valid UTF-8" },
                { "92050911000000000000f07f", "field aValue: the number of a google.protobuf.Value is not finite" },
                { "ca0101ff", "field int32s: a varint is malformed" },
                { "b201070000803f000000", "field floats: the message is truncated" },
                { "a205070881bcaece9709",
                  "field aDuration: the seconds of a google.protobuf.Duration are out of range" },
                { "a20506108094ebdc03", "field aDuration: the nanos of a google.protobuf.Duration are out of range" },
                { "a2050d080110ffffffffffffffffff01",
                  "field aDuration: seconds and nanos of a google.protobuf.Duration have different signs" },
                { "aa0507088083d1ffaf07",
                  "field aTimestamp: the seconds of a google.protobuf.Timestamp are out of range" },
                { "aa050b10ffffffffffffffffff01",
                  "field aTimestamp: the nanos of a google.protobuf.Timestamp are out of range" },
        };
        static const struct {
                const char *json;
                const char *error;
        } bad_values[] = {
                { "[]", "wanted an object, got an array" },
                { "{\"nope\":1}", "weft.test.v1.AllTypes has no field \"nope\"" },
                { "{\"aMessage\":{\"messages\":[{},{\"aBool\":1}]}}",
                  "field aMessage.messages[1].aBool: wanted a bool, got a number" },
                { "{\"a_bool\":true,\"aBool\":true}", "field aBool: the field is there under both of its names" },
                { "{\"choiceInt32\":1,\"choiceString\":\"\"}",
                  "field choiceInt32: another field of the same oneof is set" },
                { "{\"aString\":null,\"anInt32\":true}", "field anInt32: wanted an integer of 32 bits" },
                { "{\"aUint64\":\"-1\"}", "field aUint64: wanted an unsigned integer of 64 bits" },
                { "{\"aDouble\":[]}", "field aDouble: wanted a number, got an array" },
                { "{\"aDouble\":\"x\"}", "field aDouble: wanted a number" },
                { "{\"aFloat\":1e39}", "field aFloat: the number is out of the range of float" },
                { "{\"aString\":{}}", "field aString: wanted a string, got an object" },
                { "{\"aBytes\":false}", "field aBytes: wanted base64 text, got a bool" },
                { "{\"aBytes\":\"?\"}", "field aBytes: illegal base64 data at input byte 0" },
                { "{\"aColor\":\"BLUE\"}", "field aColor: weft.test.v1.Color has no value \"BLUE\"" },
                { "{\"aDuration\":\"1\"}", "field aDuration: it is no google.protobuf.Duration" },
                { "{\"aDuration\":1}", "field aDuration: wanted a duration, got a number" },
                { "{\"aTimestamp\":\"x\"}", "field aTimestamp: it is no google.protobuf.Timestamp" },
                { "{\"aTimestamp\":1}", "field aTimestamp: wanted a time, got a number" },
                { "{\"aTimestamp\":\"2024-01-01T00:00:00.0000000000Z\"}",
                  "field aTimestamp: it is no google.protobuf.Timestamp: it has more than 9 fractional digits" },
                { "{\"byInt32\":{\"1\":1,\"01\":2}}", "field byInt32[01]: the key is there twice" },
                { "{\"byInt32\":{\"x\":1}}", "field byInt32[x]: the key is not an integer" },
                { "{\"byInt32\":{\"2147483648\":1}}", "field byInt32[2147483648]: wanted an integer of 32 bits" },
                { "{\"byUint32\":{\"4294967296\":\"\"}}",
                  "field byUint32[4294967296]: the key is not an unsigned integer" },
                { "{\"byFixed32\":{\"4294967296\":true}}",
                  "field byFixed32[4294967296]: the key is not an unsigned integer" },
                { "{\"byBool\":{\"yes\":\"\"}}", "field byBool[yes]: the key is no bool" },
                { "{\"byString\":{\"a\":1}}", "field byString[a]: wanted a string, got a number" },
                { "{\"byString\":[]}", "field byString: wanted an object, got an array" },
                { "{\"int32s\":{}}", "field int32s: wanted an array, got an object" },
                { "{\"int32s\":[1,\"\"]}", "field int32s[1]: wanted an integer of 32 bits" },
                { "{\"strings\":[\"\",null]}", "field strings[1]: wanted a string, got null" },
                { "{\"aStruct\":[]}", "field aStruct: wanted an object, got an array" },
                { "{\"aList\":\"\"}", "field aList: wanted an array, got a string" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(bad_bytes); i++)
                ASSERT_STR_CASE(bad_bytes[i].hex, decode(ALL, from_hex(bad_bytes[i].hex), 0),
                                arena_printf(&arena, "error: cannot decode weft.test.v1.AllTypes: %s",
                                             bad_bytes[i].error));
        for (size_t i = 0; i < ARRAY_SIZE(bad_values); i++)
                ASSERT_STR_CASE(bad_values[i].json, encode(ALL, from_json(bad_values[i].json), 0),
                                arena_printf(&arena, "error: cannot encode weft.test.v1.AllTypes: %s",
                                             bad_values[i].error));
}

TEST(keeps_the_path_apart)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        ASSERT_INT(proto_decode(&arena, ALL, from_hex("5a034a01ff"), NULL, &v, &err), ERR_INVALID);
        ASSERT_TEXT(err.path, "aMessage.aString");
        ASSERT(!v);
        /* The err may be NULL. */
        ASSERT(proto_decode(&arena, ALL, from_hex("5a034a01ff"), NULL, &v, NULL) < 0);
        ASSERT(proto_encode(&b, ALL, &value_null, NULL, NULL) < 0);
}

TEST(refuses_invalid_text_and_numbers_in_values)
{
        struct value bad_text = value_of_str(str_make("a\xff", 2)), nan = value_of_double(__builtin_nan(""));
        struct value infinite = value_of_double(-__builtin_inf());
        struct {
                struct member member;
                const char *error;
        } cases[] = {
                { { STR("aString"), bad_text }, "field aString: a string is not valid UTF-8" },
                { { STR("aValue"), bad_text }, "field aValue: a string is not valid UTF-8" },
                { { STR("aValue"), nan }, "field aValue: the number of a google.protobuf.Value is not finite" },
                { { STR("aValue"), infinite }, "field aValue: the number of a google.protobuf.Value is not finite" },
        };
        struct member bad_key = { bad_text.n ? value_str(&bad_text) : STR(""), value_of_null() };
        struct member texts = { bad_key.key, value_of_literal("x") };
        struct value object = value_of_members(&arena, &bad_key, 1, true);
        struct value map = value_of_members(&arena, &texts, 1, true);
        struct member in_struct = { STR("aStruct"), object }, in_map = { STR("byString"), map };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct value v = value_of_members(&arena, &cases[i].member, 1, true);

                ASSERT_STR(encode(ALL, &v, 0),
                           arena_printf(&arena, "error: cannot encode weft.test.v1.AllTypes: %s", cases[i].error));
        }
        object = value_of_members(&arena, &in_struct, 1, true);
        ASSERT_STR(encode(ALL, &object, 0),
                   STR("error: cannot encode weft.test.v1.AllTypes: field aStruct: a key is not valid UTF-8"));
        map = value_of_members(&arena, &in_map, 1, true);
        ASSERT_STR(encode(ALL, &map, 0),
                   STR("error: cannot encode weft.test.v1.AllTypes: field byString: a key is not valid UTF-8"));
}

/* All lengths that the quick copies and checks tell apart, plain and with one byte that is not ASCII or not valid. */
TEST(checks_texts_of_every_length)
{
        char text[72];

        for (size_t n = 1; n <= sizeof(text); n++) {
                for (size_t at = 0; at < n; at++) {
                        struct value v;
                        struct str hex;

                        memset(text, 'x', n);
                        v = value_of_str(str_make(text, n));
                        hex = encode(&proto_google_Value, &v, 0);
                        ASSERT_INT(hex.n, 2 * (n + 2));
                        text[at] = '\xbf';
                        ASSERT(str_starts_with(encode(&proto_google_Value, &v, 0), STR("error")));
                        ASSERT(str_starts_with(decode(&proto_google_Value,
                                                      arena_printf(&arena, "\x1a%c%.*s", (char)n, (int)n, text), 0),
                                               STR("error")));
                        if (at == 0)
                                continue;
                        text[at - 1] = '\xc3';
                        ASSERT_INT(encode(&proto_google_Value, &v, 0).n, 2 * (n + 2));
                }
        }
}

TEST(leaves_out_or_emits_defaults)
{
        static const char expected[] = "{\"aString\":\"\",\"anInt32\":0,\"aMessage\":{\"anInt32\":1,\"aString\":\"\"}}";
        const struct value *v;
        struct proto_options options = { .flags = PROTO_EMIT_DEFAULTS };

        ASSERT_STR(decode(FEW, from_hex("28004a005a022801"), 0), STR("{\"aMessage\":{\"anInt32\":1}}"));
        ASSERT_STR(decode(FEW, from_hex("28004a005a022801"), PROTO_EMIT_DEFAULTS), same_json(expected));
        ASSERT_INT(proto_decode(&arena, ALL, STR(""), &options, &v, NULL), 0);
        /* As protojson's EmitDefaultValues: what has presence stays out. */
        ASSERT(!value_get(v, STR("maybeInt32")) && !value_get(v, STR("aMessage")) && !value_get(v, STR("choiceInt32")));
        ASSERT_STR(to_json(value_get(v, STR("anInt64"))), STR("\"0\""));
        ASSERT_STR(to_json(value_get(v, STR("aDouble"))), STR("0"));
        ASSERT_STR(to_json(value_get(v, STR("aColor"))), STR("\"COLOR_NONE\""));
        ASSERT_STR(to_json(value_get(v, STR("aBytes"))), STR("\"\""));
        ASSERT_STR(to_json(value_get(v, STR("bools"))), STR("[]"));
        ASSERT_STR(to_json(value_get(v, STR("byBool"))), STR("{}"));
        ASSERT_STR(encode(ALL, v, 0), STR(""));
}

TEST(ignores_unknown_members_if_asked)
{
        const struct value *v = from_json("{\"anInt32\":1,\"nope\":1,\"aMessage\":{\"other\":{}}}");

        ASSERT_STR(encode(FEW, v, PROTO_IGNORE_UNKNOWN), STR("28015a00"));
        ASSERT_STR(
                encode(FEW, v, 0),
                STR("error: cannot encode weft.test.v1.Few: field aMessage: weft.test.v1.Few has no field \"other\""));
        v = from_json("{\"anInt32\":1,\"@unknown\":\"MAE=\"}");
        ASSERT_STR(encode(FEW, v, PROTO_KEEP_UNKNOWN), STR("28013001"));
        ASSERT_STR(encode(FEW, v, 0),
                   STR("error: cannot encode weft.test.v1.Few: weft.test.v1.Few has no field \"@unknown\""));
        ASSERT_STR(encode(FEW, v, PROTO_IGNORE_UNKNOWN), STR("2801"));
        v = from_json("{\"@unknown\":1}");
        ASSERT_STR(encode(FEW, v, PROTO_KEEP_UNKNOWN),
                   STR("error: cannot encode weft.test.v1.Few: field @unknown: wanted base64 text, got a number"));
        v = from_json("{\"@unknown\":\"\",\"x\":1}");
        ASSERT_STR(encode(FEW, v, PROTO_KEEP_UNKNOWN),
                   STR("error: cannot encode weft.test.v1.Few: weft.test.v1.Few has no field \"x\""));
}

/* Go's bytes for the messages that differ most from a plain run of fields. */
TEST(encodes_the_function_protocol_as_go)
{
        static const struct {
                const struct proto_message *message;
                const char *json;
                const char *hex;
        } cases[] = {
                { &proto_fn_v1_ResourceSelector,
                  "{\"apiVersion\":\"a\",\"kind\":\"k\",\"matchName\":\"n\",\"namespace\":\"ns\"}",
                  "0a016112016b2a026e731a016e" },
                { &proto_fn_v1_State, "{\"resources\":{\"b\":{},\"\":{},\"a\":{\"ready\":\"READY_FALSE\"}}}",
                  "12040a00120012070a01611202180212050a01621200" },
                { &proto_fn_v1_Resource, "{\"resource\":{\"x\":0}}", "0a100a0e0a01781209110000000000000000" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_STR(encode(cases[i].message, from_json(cases[i].json), 0), str_from(cases[i].hex));
                ASSERT_STR(decode(cases[i].message, from_hex(cases[i].hex), 0), same_json(cases[i].json));
        }
}

/* More members than insertion sorts, in a bad order, some of them twice. */
TEST(sorts_large_maps)
{
        _cleanup_buf_ struct buf wire = BUF_INIT(0), again = BUF_INIT(0);
        const struct value *v;
        char key[8];

        for (int i = 0; i < 300; i++) {
                _cleanup_buf_ struct buf entry = BUF_INIT(0);
                struct value number = value_of_int(i);
                struct str value;

                snprintf(key, sizeof(key), "k%d", (i * 7919) % 200);
                proto_append_bytes_field(&entry, 1, str_from(key));
                value = encode(&proto_google_Value, &number, 0);
                proto_append_bytes_field(&entry, 2, from_hex(arena_cstring(&arena, value)));
                proto_append_bytes_field(&wire, 1, buf_str(&entry));
        }
        ASSERT_INT(proto_decode_struct(&arena, buf_str(&wire), NULL, &v, NULL), 0);
        ASSERT_INT(value_count(v), 200);
        for (size_t i = 1; i < 200; i++)
                ASSERT(str_compare(value_member(v, i - 1)->key, value_member(v, i)->key) < 0);
        for (int i = 100; i < 300; i++) {
                snprintf(key, sizeof(key), "k%d", (i * 7919) % 200);
                ASSERT_INT(value_int(value_get(v, str_from(key)), -1), i);
        }
        ASSERT_INT(proto_encode_struct(&again, v, NULL), 0);
        ASSERT(again.n < wire.n);
}

TEST(sorts_large_objects_when_encoding)
{
        struct object_builder forward, backward;
        struct value a, b;

        object_builder_init(&forward, &arena, 0);
        object_builder_init(&backward, &arena, 0);
        for (int i = 0; i < 100; i++) {
                object_builder_add(&forward, arena_printf(&arena, "samelongprefix%02d", i), value_of_int(i));
                object_builder_add(&backward, arena_printf(&arena, "samelongprefix%02d", 99 - i),
                                   value_of_double(99 - i));
        }
        a = object_builder_finish(&forward);
        b = object_builder_finish(&backward);
        ASSERT_STR(encode(&proto_google_Struct, &a, 0), encode(&proto_google_Struct, &b, 0));
}

/* Depth counts containers of the value, as in JSON. */
static struct str nested_lists(int depth)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (int i = 1; i < depth; i++) {
                _cleanup_buf_ struct buf outer = BUF_INIT(0), item = BUF_INIT(0);

                proto_append_bytes_field(&item, 6, buf_str(&b));
                proto_append_bytes_field(&outer, 1, buf_str(&item));
                buf_clear(&b);
                buf_append_str(&b, buf_str(&outer));
        }
        return buf_to_arena(&b, &arena);
}

TEST(limits_depth)
{
        struct proto_options shallow = { .max_depth = 3 };
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        ASSERT_INT(proto_decode(&arena, &proto_google_ListValue, nested_lists(LIMIT_DEPTH), NULL, &v, NULL), 0);
        ASSERT_INT(proto_encode(&b, &proto_google_ListValue, v, NULL, NULL), 0);
        ASSERT_INT(proto_decode(&arena, &proto_google_ListValue, nested_lists(LIMIT_DEPTH + 1), NULL, &v, &err),
                   ERR_LIMIT);
        ASSERT(strstr(err_message(&err), "nested deeper than the limit of 1000 levels"));
        ASSERT(strlen(err_message(&err)) < 1000);
        ASSERT_INT(proto_encode(&b, &proto_google_ListValue, v, &shallow, &err), ERR_LIMIT);

        ASSERT_INT(proto_decode(&arena, ALL, from_hex("5a045a022801"), &shallow, &v, NULL), 0);
        ASSERT_INT(proto_encode(&b, ALL, v, &shallow, NULL), 0);
        ASSERT_INT(proto_decode(&arena, ALL, from_hex("5a065a045a022801"), &shallow, &v, NULL), ERR_LIMIT);
        v = from_json("{\"aMessage\":{\"messages\":[{}]}}");
        ASSERT_INT(proto_encode(&b, ALL, v, &shallow, NULL), ERR_LIMIT);
        v = from_json("{\"aMessage\":{\"aMessage\":{\"int32s\":[1]}}}");
        ASSERT_INT(proto_encode(&b, ALL, v, &shallow, NULL), ERR_LIMIT);
        v = from_json("{\"aMessage\":{\"aMessage\":{\"byString\":{}}}}");
        ASSERT_INT(proto_encode(&b, ALL, v, &shallow, NULL), ERR_LIMIT);
        ASSERT_INT(proto_decode(&arena, ALL, from_hex("5a055a03c80101"), &shallow, &v, NULL), ERR_LIMIT);
        ASSERT_INT(proto_decode(&arena, ALL, from_hex("5a065a04ea030000"), &shallow, &v, NULL), ERR_LIMIT);
}

TEST(limits_groups)
{
        char open[2 * LIMIT_PROTO_GROUPS + 2];
        struct str bytes;

        memset(open, 0x0b, sizeof(open));
        memset(open + LIMIT_PROTO_GROUPS, 0x0c, LIMIT_PROTO_GROUPS);
        ASSERT_STR(decode(FEW, str_make(open, 2 * LIMIT_PROTO_GROUPS), 0), STR("{}"));
        memset(open, 0x0b, LIMIT_PROTO_GROUPS + 1);
        bytes = str_make(open, sizeof(open));
        ASSERT_STR(decode(FEW, bytes, 0), STR("error: cannot decode weft.test.v1.Few: groups are nested too deep"));
}

TEST(limits_size)
{
        struct proto_options small = { .max_bytes = 8 };
        _cleanup_buf_ struct buf b = BUF_INIT(0), full = BUF_INIT(6), failed = BUF_INIT(1);
        _cleanup_err_ struct err err = { 0 };
        const struct value *v;

        ASSERT_INT(proto_decode(&arena, FEW, from_hex("4a06616263646566"), &small, &v, NULL), 0);
        ASSERT_INT(proto_encode(&b, FEW, v, &small, NULL), 0);
        ASSERT_INT(b.n, 8);
        v = from_json("{\"aString\":\"abcdefg\"}");
        ASSERT_INT(proto_encode(&b, FEW, v, &small, &err), ERR_LIMIT);
        ASSERT(strstr(err_message(&err), "the message is larger than the limit of 8 bytes"));
        ASSERT_INT(b.n, 8);
        err_done(&err);
        ASSERT_INT(proto_decode(&arena, FEW, from_hex("4a0761626364656667"), &small, &v, &err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&err), "cannot decode weft.test.v1.Few: 9 bytes are more than the limit of 8 bytes");

        buf_append_literal(&full, "ab");
        err_done(&err);
        ASSERT_INT(proto_encode(&full, FEW, from_json("{\"aString\":\"abcdefg\"}"), NULL, &err), ERR_LIMIT);
        ASSERT(strstr(err_message(&err), "the message is larger than the limit of 6 bytes"));
        ASSERT_STR(buf_str(&full), STR("ab"));
        buf_append_literal(&failed, "ab");
        ASSERT_INT(proto_encode(&failed, FEW, from_json("{}"), NULL, NULL), ERR_LIMIT);
}

TEST(appends_to_what_is_there)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_literal(&b, "before");
        for (int i = 0; i < 200; i++)
                ASSERT_INT(proto_encode(&b, FEW, from_json("{\"anInt32\":1,\"aString\":\"some text\"}"), NULL, NULL),
                           0);
        ASSERT_INT(b.n, 6 + 200 * 13);
        ASSERT(str_starts_with(buf_str(&b), STR("before\x28\x01\x4a\x09some text\x28\x01")));
        ASSERT(str_ends_with(buf_str(&b), STR("\x28\x01\x4a\x09some text")));
}

TEST(stays_within_the_budget_of_the_arena)
{
        _cleanup_arena_ struct arena small;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };
        const struct value *v = NULL;

        /* Two bytes on the wire become sixteen in memory. */
        for (int i = 0; i < 100000; i++)
                buf_append_literal(&b, "\x0a\x02\x32\x00");
        arena_init(&small, "request", 1 << 20);
        ASSERT_INT(proto_decode(&small, &proto_google_ListValue, buf_str(&b), NULL, &v, &err), ERR_LIMIT);
        ASSERT(strstr(err_message(&err), "request memory limit of 1048576 bytes exceeded"));
        ASSERT(!v);
}

/* Pieces of one message are merged without copying them together each time. */
TEST(merges_many_pieces_in_linear_time)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *v;

        for (int i = 0; i < 100000; i++)
                buf_append_literal(&b, "\xaa\x03\x02\x28\x07\xaa\x03\x03\xc8\x01\x01\x98\x03\x01");
        for (int i = 0; i < 100000; i++)
                buf_append_literal(&b, "\xaa\x03\x03\xc8\x01\x01");
        ASSERT_INT(proto_decode(&arena, ALL, buf_str(&b), NULL, &v, NULL), 0);
        ASSERT_INT(value_count(value_find(v, "choiceMessage", "int32s")), 100000);
        ASSERT(!value_find(v, "choiceMessage", "anInt32"));
}

TEST(copies_strings_unless_told)
{
        struct proto_options borrow = { .flags = PROTO_BORROW_BYTES };
        char bytes[] = "\x4a\x03"
                       "abc";
        const struct value *copied, *borrowed;

        ASSERT_INT(proto_decode(&arena, FEW, str_make(bytes, 5), NULL, &copied, NULL), 0);
        ASSERT_INT(proto_decode(&arena, FEW, str_make(bytes, 5), &borrow, &borrowed, NULL), 0);
        memcpy(bytes + 2, "xyz", 3);
        ASSERT_STR(value_str(value_get(copied, STR("aString"))), STR("abc"));
        ASSERT_STR(value_str(value_get(borrowed, STR("aString"))), STR("xyz"));
}

TEST(walks_raw_fields)
{
        static const struct {
                uint32_t number;
                enum proto_wire wire;
                uint64_t scalar;
                const char *bytes;
                const char *whole;
        } wanted[] = {
                { 5, PROTO_WIRE_VARINT, 300, "", "28ac02" },
                { 9, PROTO_WIRE_BYTES, 0, "616263", "4a03616263" },
                { 1, PROTO_WIRE_FIXED64, 0x0807060504030201u, "", "090102030405060708" },
                { 2, PROTO_WIRE_FIXED32, 0x04030201u, "", "1501020304" },
                { 3, PROTO_WIRE_GROUP, 0, "280123080124", "1b2801230801241c" },
                { 3, PROTO_WIRE_GROUP, 0, "", "1b1c" },
                { 11, PROTO_WIRE_BYTES, 0, "", "5a00" },
        };
        _cleanup_buf_ struct buf all = BUF_INIT(0);
        struct proto_raw_field f;
        struct str rest;

        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
                buf_append_str(&all, from_hex(wanted[i].whole));
        rest = buf_str(&all);
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
                ASSERT_INT(proto_next_field(&rest, &f, NULL), 1);
                ASSERT_INT(f.number, wanted[i].number);
                ASSERT_INT(f.wire, wanted[i].wire);
                ASSERT(f.scalar == wanted[i].scalar);
                ASSERT_STR(to_hex(f.bytes), str_from(wanted[i].bytes));
                ASSERT_STR(to_hex(f.whole), str_from(wanted[i].whole));
        }
        ASSERT_INT(proto_next_field(&rest, &f, NULL), 0);
}

TEST(refuses_malformed_raw_fields)
{
        static const char *const cases[] = { "28",   "28ff", "4a05616263", "4affffffff0f", "0901",
                                             "1501", "0b",   "0b0801",     "0f",           "00" };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct str bytes = from_hex(cases[i]), rest = bytes;
                _cleanup_err_ struct err err = { 0 };
                struct proto_raw_field f;

                ASSERT_INT(proto_next_field(&rest, &f, &err), ERR_INVALID);
                ASSERT_CASE(cases[i],
                            str_starts_with(str_from(err_message(&err)), STR("malformed protobuf message: ")));
                ASSERT_CASE(cases[i], rest.p == bytes.p && rest.n == bytes.n);
        }
}

/* A desired state goes from a response to the next request without being looked at. */
TEST(passes_sub_messages_on_untouched)
{
        struct str response = from_hex("0a050a03746167120e0a021803990601020304050607081a020801");
        _cleanup_buf_ struct buf request = BUF_INIT(0);
        struct proto_lazy desired = { .message = &proto_fn_v1_State };
        const struct value *v, *again;
        struct proto_raw_field f;

        for (struct str rest = response; proto_next_field(&rest, &f, NULL) > 0;)
                if (f.number == 2)
                        desired.bytes = f.bytes;
        proto_append_bytes_field(&request, 3, desired.bytes);
        ASSERT_STR(to_hex(buf_str(&request)), STR("1a0e0a02180399060102030405060708"));
        ASSERT(!desired.decoded);
        ASSERT_INT(proto_lazy_get(&arena, &desired, NULL, &v, NULL), 0);
        ASSERT_STR(to_json(v), STR("{\"composite\":{\"ready\":3}}"));
        ASSERT_INT(proto_lazy_get(&arena, &desired, NULL, &again, NULL), 0);
        ASSERT(v == again);
}

TEST(reports_lazy_errors_each_time)
{
        struct proto_lazy lazy = { .message = FEW, .bytes = STR("\x28") };
        const struct value *v = NULL;

        for (int i = 0; i < 2; i++) {
                _cleanup_err_ struct err err = { 0 };

                ASSERT_INT(proto_lazy_get(&arena, &lazy, NULL, &v, &err), ERR_INVALID);
                ASSERT_TEXT(err_message(&err), "cannot decode weft.test.v1.Few: the message is truncated");
                ASSERT(!v && !lazy.decoded);
        }
}

TEST(appends_fields)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        proto_append_varint_field(&b, 5, 300);
        proto_append_varint_field(&b, 536870911, UINT64_MAX);
        proto_append_bytes_field(&b, 9, STR("abc"));
        proto_append_bytes_field(&b, 500, STR_NONE);
        ASSERT_STR(to_hex(buf_str(&b)), STR("28ac02f8ffffff0fffffffffffffffffff014a03616263a21f00"));
}

TEST(finds_messages_and_fields)
{
        const struct proto_message *m = proto_message_by_name(STR("apiextensions.fn.proto.v1.Requirements"));

        ASSERT(m == &proto_fn_v1_Requirements);
        ASSERT(!proto_message_by_name(STR("apiextensions.fn.proto.v1.Nope")));
        for (size_t i = 0; i < proto_n_messages; i++) {
                ASSERT(proto_message_by_name(proto_messages[i]->name) == proto_messages[i]);
                for (size_t k = 0; k < proto_messages[i]->n_fields; k++) {
                        const struct proto_field *f = &proto_messages[i]->fields[k];

                        ASSERT(proto_field_by_number(proto_messages[i], f->number) == f);
                        ASSERT(proto_field_by_name(proto_messages[i], f->name) == f);
                        ASSERT(proto_field_by_name(proto_messages[i], f->json_name) == f);
                }
        }
        ASSERT_STR(proto_field_by_number(m, 1000)->json_name, STR("watchResources"));
        ASSERT(!proto_field_by_number(m, 4) && !proto_field_by_number(m, 0) && !proto_field_by_number(m, UINT32_MAX));
        ASSERT(!proto_field_by_name(m, STR("")));
        ASSERT(proto_google_Struct.kind == PROTO_KIND_STRUCT && proto_google_Timestamp.kind == PROTO_KIND_TIMESTAMP);
        ASSERT(proto_fn_v1_State.fields[1].message->kind == PROTO_KIND_MAP_ENTRY);
}

/* Each file's descriptor is a FileDescriptorProto that begins with the file's own name, and imports stand before users. */
TEST(has_descriptors_of_all_files)
{
        ASSERT_INT(proto_n_files, 11);
        for (size_t i = 0; i < proto_n_files; i++) {
                struct str rest = proto_files[i].descriptor;
                struct proto_raw_field f;
                int r;

                ASSERT_INT(proto_next_field(&rest, &f, NULL), 1);
                ASSERT_STR(f.bytes, proto_files[i].name);
                while ((r = proto_next_field(&rest, &f, NULL)) > 0) {
                        bool is_known = f.number != 3;

                        for (size_t k = 0; k < i; k++)
                                is_known = is_known || str_equal(f.bytes, proto_files[k].name);
                        ASSERT(is_known);
                }
                ASSERT_INT(r, 0);
        }
}
