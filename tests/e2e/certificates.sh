# Certificates for tests of mutual TLS. Source it.

# certificates DIR: an authority, and directories for a server, a client, and a client of another authority.
certificates() {
        local ca
        for ca in ours others; do
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$ca" \
                        -keyout "$1/$ca.key" -out "$1/$ca.crt" 2>/dev/null
        done
        issue "$1" server ours "subjectAltName=DNS:function-robots.weft,DNS:localhost"
        issue "$1" client ours "extendedKeyUsage=clientAuth"
        issue "$1" stranger others "extendedKeyUsage=clientAuth"
        cp "$1/ours.crt" "$1/stranger/ca.crt"
}

# issue DIR NAME AUTHORITY EXTENSION [DAYS]: a directory with a certificate that is good for so many days, else one.
issue() {
        mkdir -p "$1/$2"
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$1/$2/tls.key" -out "$1/$2.csr" 2>/dev/null
        printf '%s\n' "$4" >"$1/$2.ext"
        openssl x509 -req -in "$1/$2.csr" -CA "$1/$3.crt" -CAkey "$1/$3.key" -CAcreateserial -days "${5:-1}" -extfile "$1/$2.ext" \
                -out "$1/$2/tls.crt" 2>/dev/null
        cp "$1/$3.crt" "$1/$2/ca.crt"
}
