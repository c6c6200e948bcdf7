module history

go 1.26.0

require github.com/anishathalye/porcupine v1.1.0
