/* Values as JSON and the text that sigs.k8s.io/yaml 1.6.0 writes for them (the text of go-yaml itself where sigs.k8s.io/yaml
 * refuses it). */
static const struct write_case values[] = {
        { STR_INIT("{\"a\":\"b\",\"c\":[1,2,{\"d\":[]},[],[[1],[2,[3]]],{}],\"e\":{},\"f\":null,\"g\":true,\"h\":1.5,"
                   "\"i\":-0.0,\"j\":1e21,\"k\":100000000000000000000,\"l\":123456789012,\"m\":1e-7,\"n\":1.0}"),
          STR_INIT("a: b\nc:\n- 1\n- 2\n- d: []\n- []\n- - - 1\n  - - 2\n    - - 3\n- {}\ne: {}\nf: null\ng: true\nh: "
                   "1.5\ni: 0\nj: 1e+21\nk: 1e+20\nl: 123456789012\nm: 1e-07\n\"n\": 1\n") },
        { STR_INIT("\"x\""), STR_INIT("x\n") },
        { STR_INIT("1"), STR_INIT("1\n") },
        { STR_INIT("null"), STR_INIT("null\n") },
        { STR_INIT("[]"), STR_INIT("[]\n") },
        { STR_INIT("{}"), STR_INIT("{}\n") },
        { STR_INIT("[[]]"), STR_INIT("- []\n") },
        { STR_INIT("[{\"a\":1,\"b\":2},{\"c\":{\"d\":1}}]"), STR_INIT("- a: 1\n  b: 2\n- c:\n    d: 1\n") },
        { STR_INIT("{\"a\":\"line1\\nline2\"}"), STR_INIT("a: |-\n  line1\n  line2\n") },
        { STR_INIT("{\"a\":\"line1\\nline2\\n\"}"), STR_INIT("a: |\n  line1\n  line2\n") },
        { STR_INIT("{\"a\":\"line1\\nline2\\n\\n\"}"), STR_INIT("a: |+\n  line1\n  line2\n\n") },
        { STR_INIT("{\"a\":\"\\nline\"}"), STR_INIT("a: |2-\n\n  line\n") },
        { STR_INIT("{\"a\":\" line\\nx\"}"), STR_INIT("a: |2-\n   line\n  x\n") },
        { STR_INIT("{\"a\":\"line \\nx\"}"), STR_INIT("a: \"line \\nx\"\n") },
        { STR_INIT("{\"a\":\"line\\nx \"}"), STR_INIT("a: \"line\\nx \"\n") },
        { STR_INIT("{\"a\":\"\\n\"}"), STR_INIT("a: |2+\n\n") },
        { STR_INIT("{\"a\":\"\\n\\n\"}"), STR_INIT("a: |2+\n\n\n") },
        { STR_INIT("{\"a\":\"x\\n y\\n\"}"), STR_INIT("a: |\n  x\n   y\n") },
        { STR_INIT("{\"a\":\"a\\tb\"}"), STR_INIT("a: \"a\\tb\"\n") },
        { STR_INIT("{\"a\":\"\\ta\\nb\"}"), STR_INIT("a: \"\\ta\\nb\"\n") },
        { STR_INIT("{\"a\":\"a\\tb\\nc\"}"), STR_INIT("a: \"a\\tb\\nc\"\n") },
        { STR_INIT("{\"a\":\"a\\rb\"}"), STR_INIT("a: \"a\\rb\"\n") },
        { STR_INIT("{\"a\":\"a\\r\\nb\"}"), STR_INIT("a: \"a\\r\\nb\"\n") },
        { STR_INIT("{\"a\":\"a\\u0085b\"}"), STR_INIT("a: \"a\\Nb\"\n") },
        { STR_INIT("{\"a\":\"a\\u2028b\"}"), STR_INIT("a: 'a\xE2\x80\xA8  b'\n") },
        { STR_INIT("{\"a\":\"a\\u2028b\\nc\"}"), STR_INIT("a: |-\n  a\xE2\x80\xA8  b\n  c\n") },
        { STR_INIT("{\"a\":\"\\u2028\"}"), STR_INIT("a: '\xE2\x80\xA8'\n") },
        { STR_INIT("{\"a\":\"a\\u00a0b\"}"), STR_INIT("a: a\xC2\xA0"
                                                      "b\n") },
        { STR_INIT("{\"a\":\"\xC3\xA9\"}"), STR_INIT("a: \xC3\xA9\n") },
        { STR_INIT("{\"a\":\"\xF0\x9F\x98\x80\"}"), STR_INIT("a: \"\\U0001F600\"\n") },
        { STR_INIT("{\"a\":\"\\ufeff\"}"), STR_INIT("a: \"\\uFEFF\"\n") },
        { STR_INIT("{\"a\":\"\\u0000\\u0001\\u001b\\u007f\"}"), STR_INIT("a: \"\\0\\x01\\e\\x7F\"\n") },
        { STR_INIT("{\"a\":\"\\u0007\\b\\t\\u000b\\f\\\\\\\"/\"}"), STR_INIT("a: \"\\a\\b\\t\\v\\f\\\\\\\"/\"\n") },
        { STR_INIT("{\"a\":\"\\ud800\"}"), STR_INIT("a: \xEF\xBF\xBD\n") },
        { STR_INIT("{\"a\":\"\\uffff\"}"), STR_INIT("a: \"\\uFFFF\"\n") },
        { STR_INIT("[\"\", \" \", \"a \", \" a\", \"  \", \"-\", \"- a\", \"-a\", \"--\", \"---\", \"---a\", \"...\", "
                   "\"?\", \"? a\", \"?a\", \":\", \": a\", \":a\", \"a:\", \"a: b\", \"a:b\", \"a #b\", \"a#b\", "
                   "\"#a\", \"*a\", \"&a\", \"!a\", \"|\", \">\", \"'a\", \"\\\"a\", \"%a\", \"@a\", \"`a\", \"[a\", "
                   "\"]a\", \"{a\", \"}a\", \",a\", \"a,b\", \"a[b\", \"a'b\", \"a\\\"b\"]"),
          STR_INIT("- \"\"\n- ' '\n- 'a '\n- ' a'\n- '  '\n- '-'\n- '- a'\n- -a\n- --\n- '---'\n- '---a'\n- '...'\n- "
                   "'?'\n- '? a'\n- ?a\n- ':'\n- ': a'\n- :a\n- 'a:'\n- 'a: b'\n- a:b\n- 'a #b'\n- a#b\n- '#a'\n- "
                   "'*a'\n- '&a'\n- '!a'\n- '|'\n- '>'\n- '''a'\n- '\"a'\n- '%a'\n- '@a'\n- '`a'\n- '[a'\n- ']a'\n- "
                   "'{a'\n- '}a'\n- ',a'\n- a,b\n- a[b\n- a'b\n- a\"b\n") },
        { STR_INIT("[\"y\",\"Y\",\"yes\",\"no\",\"on\",\"off\",\"true\",\"null\",\"~\",\"1\",\"1.5\",\"0x10\",\"0o7\","
                   "\"1e3\",\"1_000\",\".5\",\".inf\",\"1:30\",\"2001-01-01\",\"2001-01-01T00:00:00Z\",\"2001-01-01 "
                   "00:00:00\",\"<<\",\"=\",\"08\",\"0b1\",\"-\",\"+\",\"+1\",\"1:30:20.5\",\"1:60\",\"-1:30\",\"1_0:"
                   "30\"]"),
          STR_INIT("- \"y\"\n- \"Y\"\n- \"yes\"\n- \"no\"\n- \"on\"\n- \"off\"\n- \"true\"\n- \"null\"\n- \"~\"\n- "
                   "\"1\"\n- \"1.5\"\n- \"0x10\"\n- \"0o7\"\n- \"1e3\"\n- \"1_000\"\n- \".5\"\n- \".inf\"\n- "
                   "\"1:30\"\n- \"2001-01-01\"\n- \"2001-01-01T00:00:00Z\"\n- \"2001-01-01 00:00:00\"\n- <<\n- =\n- "
                   "\"08\"\n- \"0b1\"\n- '-'\n- +\n- \"+1\"\n- \"1:30:20.5\"\n- 1:60\n- \"-1:30\"\n- \"1_0:30\"\n") },
        { STR_INIT("{\"1\":\"a\",\"10\":\"b\",\"2\":\"c\",\"a\":\"d\",\"a1\":\"e\",\"a10\":\"f\",\"a2\":\"g\",\"B\":"
                   "\"h\",\"_\":\"i\",\"-\":\"j\",\"true\":\"k\",\"\":\"l\",\"a "
                   "b\":\"m\",\"\xC3\xA9\":\"n\",\"~\":\"o\"}"),
          STR_INIT("\"\": l\n'-': j\n_: i\n\"~\": o\n\"1\": a\n\"2\": c\n\"10\": b\nB: h\na: d\na b: m\na1: e\na2: "
                   "g\na10: f\n\"true\": k\n\xC3\xA9: \"n\"\n") },
        { STR_INIT("{\"a\\nb\":\"c\"}"), STR_INIT("? |-\n  a\n  b\n: c\n") },
        { STR_INIT("{\"a\":{\"b\\nc\":[1]}}"), STR_INIT("a:\n  ? |-\n    b\n    c\n  : - 1\n") },
        { STR_INIT("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":1}"),
          STR_INIT("? "
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n: 1\n") },
        { STR_INIT("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":1}"),
          STR_INIT("? "
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n: 1\n") },
        { STR_INIT("{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":[1,{\"a\":1}]}"),
          STR_INIT("? "
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n: - 1\n  - a: 1\n") },
        { STR_INIT("[\"aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa "
                   "aaaaaaaaaa aaaaaaaaaa\"]"),
          STR_INIT("- aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa\n  "
                   "aaaaaaaaaa aaaaaaaaaa\n") },
        { STR_INIT("[\"1aaaaaaaaa: aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa "
                   "aaaaaaaaaa  aaaaaaaaaa  b\"]"),
          STR_INIT("- '1aaaaaaaaa: aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa\n  "
                   "aaaaaaaaaa  aaaaaaaaaa  b'\n") },
        { STR_INIT("[\"1aaaaaaaaa\\taaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa "
                   "aaaaaaaaaa  aaaaaaaaaa  b \"]"),
          STR_INIT("- \"1aaaaaaaaa\\taaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa aaaaaaaaaa\n  "
                   "aaaaaaaaaa  aaaaaaaaaa  b \"\n") },
        { STR_INIT("\"a\\nb\""), STR_INIT("|-\n  a\n  b\n") },
        { STR_INIT("[\"a\\nb\",\"c\\n\"]"), STR_INIT("- |-\n  a\n  b\n- |\n  c\n") },
        { STR_INIT("[[\"a\\nb\"]]"), STR_INIT("- - |-\n    a\n    b\n") },
        { STR_INIT("[{\"a\":\"x\\ny\"}]"), STR_INIT("- a: |-\n    x\n    y\n") },
        { STR_INIT("\" a\\nb\""), STR_INIT("|2-\n   a\n  b\n") },
        { STR_INIT("[\"a\\n\\u2028\",\"\\u2028\\n\",\"a\\u2028\\nb\",\"a "
                   "\\u2028b\",\"\\u2028a\",\"a\\u2028\\u2029b\",\"a\\n \\u2028\", \"a\\u2028\", \"a\\u2028\\n\", "
                   "\"\\n\\u2028a\"]"),
          STR_INIT("- |+\n  a\n\xE2\x80\xA8- |2+\n\xE2\x80\xA8\n- |-\n  a\xE2\x80\xA8\n  b\n- \"a \\Lb\"\n- "
                   "'\xE2\x80\xA8  a'\n- 'a\xE2\x80\xA8\xE2\x80\xA9  b'\n- \"a\\n \\L\"\n- 'a\xE2\x80\xA8'\n- |+\n  "
                   "a\xE2\x80\xA8\n- |2-\n\n\xE2\x80\xA8  a\n") },
        { STR_INIT("{\"a\":1.25e10,\"b\":123456789.5,\"c\":1e19,\"d\":1.8446744073709552e19,\"e\":1.9e19,\"f\":"
                   "12345678901234567890,\"g\":-1e19,\"h\":9007199254740993,\"i\":0.00001,\"j\":1e-5,\"k\":-"
                   "9223372036854775808,\"l\":3.0e15}"),
          STR_INIT("a: 12500000000\nb: 1.234567895e+08\nc: 10000000000000000000\nd: 1.8446744073709552e+19\ne: "
                   "1.9e+19\nf: 12345678901234567000\ng: -1e+19\nh: 9007199254740993\ni: 1e-05\nj: 1e-05\nk: "
                   "-9223372036854775808\nl: 3000000000000000\n") },
        { STR_INIT("{\"a\":[\"x\\ny\",[\"z\\nw\",{\"k\":\"p\\nq\"}]],\"b\":{\"c\":[\"x\\n\"]}}"),
          STR_INIT("a:\n- |-\n  x\n  y\n- - |-\n    z\n    w\n  - k: |-\n      p\n      q\nb:\n  c:\n  - |\n    x\n") },
        { STR_INIT("{\"a\\nb\":{\"c\":1,\"d\":[1]},\"e\\nf\":\"x\\ny\"}"),
          STR_INIT("? |-\n  a\n  b\n: c: 1\n  d:\n  - 1\n? |-\n  e\n  f\n: |-\n  x\n  y\n") },
        { STR_INIT("[{\"a\\nb\":1},[{\"c\\nd\":{}}]]"),
          STR_INIT("- ? |-\n    a\n    b\n  : 1\n- - ? |-\n      c\n      d\n    : {}\n") },
        { STR_INIT("\"word word word word word word word word word word word word word word word word word word word "
                   "word word word word word word word word word word word\""),
          STR_INIT("word word word word word word word word word word word word word word word word word\n  word word "
                   "word word word word word word word word word word word\n") },
        { STR_INIT("[\"word word word word word word word word word word word word word word word word word word word "
                   "word word word word word word word word word word word\\t\"]"),
          STR_INIT("- \"word word word word word word word word word word word word word word word word\n  word word "
                   "word word word word word word word word word word word word\\t\"\n") },
        { STR_INIT("{\"word word word word word word word word word word word word word word word word word word word "
                   "word word word word word word word word word word word\": \"word word word word word word word "
                   "word word word word word word word word word word word word word word word word word word word "
                   "word word word word\"}"),
          STR_INIT("? word word word word word word word word word word word word word word word word\n  word word "
                   "word word word word word word word word word word word word\n: word word word word word word word "
                   "word word word word word word word word word\n  word word word word word word word word word word "
                   "word word word word\n") },
        { STR_INIT("{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": \"word word word word word word word word word word word "
                   "word word word word word word word word word word word word word word word word word word word : "
                   "x\"}}}}}"),
          STR_INIT("a:\n  b:\n    c:\n      d:\n        e: 'word word word word word word word word word word word "
                   "word word word\n          word word word word word word word word word word word word word word "
                   "word\n          word : x'\n") },
        { STR_INIT("{\"k\": \"x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x "
                   "x x x x x x x x x x x x x x x x \"}"),
          STR_INIT("k: 'x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x\n  x x x x x x x "
                   "x x x x x x x x x x x x x x '\n") },
        { STR_INIT(
                  "{\"k\": \"x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  "
                  "x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  \\t y\"}"),
          STR_INIT("k: \"x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x\n  \\ x  x  x "
                   " x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x  x\n  \\ x  x  x  x  x  x  "
                   "\\t y\"\n") },
        { STR_INIT("\"\\ufeffab \\u00e9\""), STR_INIT("\"\\uFEFF\\x61\\x62\\x20\\xE9\"\n") },
        { STR_INIT("\"\\u00a0\\t\""), STR_INIT("\"\xC2\xA0\\t\"\n") },
        { STR_INIT("\"2001-1-1\""), STR_INIT("\"2001-1-1\"\n") },
        { STR_INIT("\"2001-02-30\""), STR_INIT("2001-02-30\n") },
        { STR_INIT("\"2001-01-01t1:2:3.5+01:00\""), STR_INIT("\"2001-01-01t1:2:3.5+01:00\"\n") },
        { STR_INIT("\"2001-01-01  1:2:3\""), STR_INIT("\"2001-01-01  1:2:3\"\n") },
        { STR_INIT("\"2001-01-01T1:2:3\""), STR_INIT("2001-01-01T1:2:3\n") },
        { STR_INIT("\"1900-02-29\""), STR_INIT("1900-02-29\n") },
        { STR_INIT("\"2000-02-29\""), STR_INIT("\"2000-02-29\"\n") },
        { STR_INIT("{\"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
                   "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\": 1, "
                   "\"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"
                   "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq\": [1]}"),
          STR_INIT("kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
                   "kkkkkkkkkkkkkkkkkkkkkkkkkkkkk: 1\n? "
                   "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"
                   "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqq\n: - 1\n") },
        { STR_INIT("{\"\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00"
                   "e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e"
                   "9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9"
                   "\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9"
                   "\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\": {\"a\": 1}}"),
          STR_INIT("? "
                   "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                   "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                   "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                   "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                   "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                   "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\n: a: 1\n") },
        { STR_INIT("{\"a0\": 1, \"a00\": 1, \"a9\": 1, \"a09\": 1, \"a10\": 1, \"a1\": 1, \"ab\": 1, \"a-\": 1, \"A\": "
                   "1, \"\\u0663\": 1, \"\\u0662\": 1, \"\\u00df\": 1}"),
          STR_INIT("\xD9\xA2: 1\n\xD9\xA3: 1\nA: 1\na-: 1\na0: 1\na00: 1\na1: 1\na9: 1\na09: 1\na10: 1\nab: "
                   "1\n\xC3\x9F: 1\n") },
        { STR_INIT("{\"10\": 1, \"100\": 1, \"10a\": 1, \"2\": 1, \"0.1\": 1, \"0b1\": 1}"),
          STR_INIT("\"0.1\": 1\n\"0b1\": 1\n\"2\": 1\n\"10\": 1\n\"100\": 1\n10a: 1\n") },
        { STR_INIT("{\"aaaaaaaaaaaaaaaaaaaa\\n\": \"x\"}"), STR_INIT("? |\n  aaaaaaaaaaaaaaaaaaaa\n: x\n") },
        { STR_INIT("[[\"a\\n\"], {\"b\": [\"c\\n\\n\", [\"d\\n e\"]]}]"),
          STR_INIT("- - |\n    a\n- b:\n  - |+\n    c\n\n  - - |-\n      d\n       e\n") },
        { STR_INIT("\"it's: \\\"x\\\"\""), STR_INIT("'it''s: \"x\"'\n") },
        { STR_INIT("\"a\\u0001\\u007f\\u0085\\u2029\\udbff\\udfff\""), STR_INIT("\"a\\x01\\x7F\\N\\P\\U0010FFFF\"\n") },
        { STR_INIT("\"-\""), STR_INIT("'-'\n") },
        { STR_INIT("\"'\""), STR_INIT("''''\n") },
        { STR_INIT("\"\\n \\n\""), STR_INIT("\"\\n \\n\"\n") },
        { STR_INIT("\" \\n\""), STR_INIT("\" \\n\"\n") },
        { STR_INIT("{\"a\": \"b\\r\"}"), STR_INIT("a: \"b\\r\"\n") },
        { STR_INIT("[{}]"), STR_INIT("- {}\n") },
        { STR_INIT("[[]]"), STR_INIT("- []\n") },
        { STR_INIT("[[[]], {}]"), STR_INIT("- - []\n- {}\n") },
        { STR_INIT("{\"a\": {\"b\": []}, \"c\": [{}]}"), STR_INIT("a:\n  b: []\nc:\n- {}\n") },
};
