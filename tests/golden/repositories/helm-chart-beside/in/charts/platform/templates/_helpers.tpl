{{- define "x" -}}{{- end -}}
