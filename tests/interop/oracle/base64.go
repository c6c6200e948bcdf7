// Suite base64: encoding/base64 with its four alphabets, and bytes as protojson reads them.
package main

import (
	"encoding/base64"
	"encoding/json"
	"math/rand"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Text travels as base64 (std, padded) itself, since it need not be UTF-8.
type base64Case struct {
	Op   string `json:"op"` // encode, decode, any
	Text string `json:"text"`
}

var base64Encodings = []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding}

func init() {
	suites["base64"] = suite{gen: genBase64, run: runBase64}
}

// base64Spoil makes a valid text nearly valid.
func base64Spoil(r *rand.Rand, text []byte) []byte {
	for range r.Intn(3) {
		at := r.Intn(len(text) + 1)
		insert := []string{"\n", "\r\n", "=", "==", "A", "!", "-", "_", "+", "/", " ", "\x00", "\xff", "é", "=\n="}[r.Intn(15)]
		switch r.Intn(4) {
		case 0:
			text = text[:at]
		case 1, 2:
			text = append(text[:at:at], append([]byte(insert), text[at:]...)...)
		case 3:
			if at < len(text) {
				text[at] = insert[0]
			}
		}
	}
	return text
}

func genBase64(r *rand.Rand, count int, emit func(c any)) {
	for _, s := range []string{
		"", "=", "==", "A", "A=", "A==", "AA", "AA=", "AA==", "AA===", "AAA", "AAA=", "AAA==", "AAAA", "AAAA=", "AB==", "AAB=", "\n", "\r\n\r\n", "A\nA\n=\n=\n", "AA=\n", "AA=\nA", "AA=\n\n=x",
		"AAA=\n", "AAA=\nx", "AAAAAAAAAAA=AAAA", "AAAAAAAA!AAA", "+/+/", "-_-_", "+_+/", "AAAA\n!", "AAAAA\n", "AAAA\n\nA", "AA\nA\nA", "Z\n=", "ZZ\n=\n=\n\nZ", "====", "A===", "AAAAAAAAAAAAAAAA====",
	} {
		emit(base64Case{"decode", b64(s)})
		emit(base64Case{"any", b64(s)})
	}
	for range count {
		bytes := make([]byte, r.Intn(24))
		r.Read(bytes)
		text := []byte(base64Encodings[r.Intn(4)].EncodeToString(bytes))
		switch r.Intn(8) {
		case 0:
			emit(base64Case{"encode", b64(string(bytes))})
		case 1:
			emit(base64Case{"any", b64(string(text))})
		case 2:
			emit(base64Case{"any", b64(string(base64Spoil(r, text)))})
		default:
			emit(base64Case{"decode", b64(string(base64Spoil(r, text)))})
		}
	}
}

func runBase64(raw json.RawMessage) any {
	var c base64Case
	if err := json.Unmarshal(raw, &c); err != nil {
		fail("%v", err)
	}
	text := unb64(c.Text)
	results := []any{}
	switch c.Op {
	case "encode":
		for _, e := range base64Encodings {
			results = append(results, e.EncodeToString([]byte(text)))
		}
	case "decode":
		for _, e := range base64Encodings {
			b, err := e.DecodeString(text)
			message := "no error"
			if err != nil {
				message = err.Error()
			}
			results = append(results, b64(string(b)), message)
		}
	case "any":
		quoted, _ := json.Marshal(text)
		m := &wrapperspb.BytesValue{}
		// json.Marshal turns invalid bytes into U+FFFD, which is as little base64 as they were.
		if err := protojson.Unmarshal(quoted, m); err != nil {
			return "error"
		}
		return b64(string(m.Value))
	}
	return results
}
