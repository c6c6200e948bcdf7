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

/* What Go's protojson and deterministic proto.Marshal make of a weft.test.v1.AllTypes; NULL where protojson refuses. */
static const struct {
        const char *json;
        const char *hex;
} encode_cases[] = {
        { "{\"choiceInt32\":1,\"byString\":{\"b\":\"\",\"a\":\"x\"},\"last\":3,\"strange_Name_1x\":5}", "ea03060a0161120178ea03050a01621200a01f05f8ffffff0f03980301" },
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
        { "{\"byInt32\":{\"1\":1,\"-1\":2,\"10\":3,\"9\":4}}", "f2030d08ffffffffffffffffff011002f2030408011001f2030408091004f20304080a1003" },
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
        { "{\"aStruct\":{\"a\":null,\"b\":[{}],\"c\":{}}}", "8a051f0a070a0161120208000a0b0a0162120632040a022a000a070a016312022a00" },
        { "{\"aMessage\":[]}", NULL },
        { "{\"nope\":1}", NULL },
        { "{\"nope\":null}", NULL },
        { "[]", NULL },
        { "null", NULL },
        { "1", NULL },
        { "{\"aValue\":\"NaN\"}", "9205051a034e614e" },
        { "{\"unpacked\":[1,2]}", "b80201b80202" },
        { "{\"int32s\":[1,-1]}", "ca010b01ffffffffffffffffff01" },
        { "{\"maybeInt32\":0,\"maybeString\":\"\",\"maybeColor\":0,\"maybeBytes\":\"\",\"maybeDouble\":0}", "c80200d20200d80200e20200e9020000000000000000" },
        { "{\"maybeInt32\":null}", "" },
        { "{\"int32s\":1}", NULL },
        { "{\"byString\":[]}", NULL },
        { "{\"durations\":[null]}", NULL },
        { "{\"structs\":[null]}", NULL },
        { "{\"lists\":[null]}", NULL },
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

/* What Go's proto.Unmarshal and protojson make of the bytes; NULL where one of them refuses. Values without a kind, which
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
        { "5a105a022801c80101ea03060a01611201315a115a034a0179c80102ea03060a0161120132", "{\"aMessage\":{\"aMessage\":{\"anInt32\":1,\"aString\":\"y\"},\"int32s\":[1,2],\"byString\":{\"a\":\"2\"}}}", "" },
        { "5a045a0228015a025a01", NULL, "" },
        { "980301a2030178", "{\"choiceString\":\"x\"}", "" },
        { "a2030178980300", "{\"choiceInt32\":0}", "" },
        { "aa03022801980300aa03034a0178", "{\"choiceMessage\":{\"aString\":\"x\"}}", "" },
        { "aa03022801aa03034a0178", "{\"choiceMessage\":{\"anInt32\":1,\"aString\":\"x\"}}", "" },
        { "aa03022801aa03034a0178b203022001", "{\"choiceValue\":true}", "" },
        { "aa030128980301", NULL, "" },
        { "aa03034a01ff980301", NULL, "" },
        { "980303aa030128", NULL, "" },
        { "b203122a100a0e0a0161120911000000000000f03fb203122a100a0e0a0162120911000000000000f03f", "{\"choiceValue\":{\"a\":1,\"b\":1}}", "" },
        { "b2030911000000000000f03fb203031a0178", "{\"choiceValue\":\"x\"}", "" },
        { "9a030a77726f6e672077697265a00303", "{}", "9a030a77726f6e672077697265a00303" },
        { "92052d2a100a0e0a0161120911000000000000f03f11000000000000f03f2a100a0e0a01621209110000000000000040", "{\"aValue\":{\"b\":2}}", "" },
        { "9205342a100a0e0a0161120911000000000000f03f2a200a0e0a016212091100000000000000400a0e0a01611209110000000000000040", "{\"aValue\":{\"a\":2,\"b\":2}}", "" },
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
        { "9204200801120d320b0a0911000000000000f03f120d320b0a09110000000000000040", "{\"bySint32\":{\"-1\":[1,2]}}", "" },
        { "aa0409090500000000000000b204050dffffffffba0400c2040208018a040208039a0400a204070d090000001002820400", "{\"byUint32\":{\"0\":\"\"},\"byUint64\":{\"3\":\"COLOR_NONE\"},\"bySint64\":{\"0\":0},\"byFixed32\":{\"9\":true},\"byFixed64\":{\"5\":\"0s\"},\"bySfixed32\":{\"-1\":{}},\"bySfixed64\":{\"0\":[]},\"byBool\":{\"true\":\"\"}}", "" },
        { "8a05230a210a0161120d320b0a0911000000000000f03f120d320b0a09110000000000000040", "{\"aStruct\":{\"a\":[1,2]}}", "" },
        { "8a05100a0e120911000000000000f03f0a0161", "{\"aStruct\":{\"a\":1}}", "" },
        { "8a05130a110a01610a0162120911000000000000f03f", "{\"aStruct\":{\"b\":1}}", "" },
        { "8a05300a0e0a0162120911000000000000f03f0a0e0a0161120911000000000000f03f0a0e0a01621209110000000000000040", "{\"aStruct\":{\"a\":1,\"b\":2}}", "" },
        { "8a05150a0e0a0161120911000000000000f03f080312013f", "{\"aStruct\":{\"a\":1}}", "" },
        { "8a05100a0e0a0161120911000000000000f03f8a05200a0e0a016212091100000000000000400a0e0a01611209110000000000000040", "{\"aStruct\":{\"a\":2,\"b\":2}}", "" },
        { "8a05110a0f0a0261ff120911000000000000f03f", NULL, "" },
        { "8a05120a0e0a0161120911000000000000f03f0b0c", "{\"aStruct\":{\"a\":1}}", "" },
        { "c80101ca01020203c80104", "{\"int32s\":[1,2,3,4]}", "" },
        { "b80201ba02020203", "{\"unpacked\":[1,2,3]}", "" },
        { "aa0108000000000000f03fa9010000000000000040", "{\"doubles\":[1,2]}", "" },
        { "b201080000803f00000040", "{\"floats\":[1,2]}", "" },
        { "b201070000803f000000", NULL, "" },
        { "e201040001ff01", "{\"bools\":[false,true,true]}", "" },
        { "92020d0001ffffffffffffffffff0105", "{\"colors\":[\"COLOR_NONE\",\"COLOR_RED\",\"COLOR_NEGATIVE\",5]}", "" },
        { "aa020401020304b2020affffffffffffffffff01", "{\"sint32s\":[-1,1,-2,2],\"sint64s\":[\"-9223372036854775808\"]}", "" },
        { "ca0101ff", NULL, "" },
        { "ea010161ea0100ea0102c3a9", "{\"strings\":[\"a\",\"\",\"é\"]}", "" },
        { "ea0101ff", NULL, "" },
        { "fa0100fa0102280182020082020200ff", "{\"messages\":[{},{\"anInt32\":1}],\"byteses\":[\"\",\"AP8=\"]}", "" },
        { "b20500ba050911000000000000f03fc20500ca05020801d20500", "{\"structs\":[{}],\"values\":[1],\"lists\":[[]],\"durations\":[\"1s\"],\"timestamps\":[\"1970-01-01T00:00:00Z\"]}", "" },
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
        { "18808080808080808080012080808080808080808001310000000000000080810100000000000000803d000000807d0000008068ffffffff0f", "{\"anInt64\":\"-9223372036854775808\",\"aUint64\":\"9223372036854775808\",\"aFixed64\":\"9223372036854775808\",\"aFixed32\":2147483648,\"aUint32\":4294967295,\"anSfixed32\":-2147483648,\"anSfixed64\":\"-9223372036854775808\"}", "" },
        { "c80200d20200d80200e20200", "{\"maybeInt32\":0,\"maybeString\":\"\",\"maybeColor\":\"COLOR_NONE\",\"maybeBytes\":\"\"}", "" },
        { "a01f01f8ffffff0f02", "{\"@odd-name\":1,\"last\":2}", "" },
        { "15abaaaa3eb5018096184bb50101000000b501ffff7f7fb5010100803f", "{\"aFloat\":0.33333334,\"floats\":[10000000,1e-45,3.4028235e+38,1.0000001]}", "" },
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
                ASSERT_CASE(decode_cases[i].hex, str_ends_with(encode(ALL, v, PROTO_KEEP_UNKNOWN),
                                                               str_from(decode_cases[i].unknown)));
        }
}
