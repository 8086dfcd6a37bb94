{{/* The names are those that `sluicegate rbac` prints: one installation a cluster. */}}
{{- define "sluicegate.selector" -}}
app.kubernetes.io/name: sluicegate
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluicegate.labels" -}}
{{ include "sluicegate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* The API group of a group of kinds. */}}
{{- define "sluicegate.group" -}}
{{- get (dict
  "kustomize" "kustomize.toolkit.fluxcd.io"
  "helm" "helm.toolkit.fluxcd.io"
  "source" "source.toolkit.fluxcd.io"
  "generator" "source.extensions.fluxcd.io"
  "operator" "fluxcd.controlplane.io"
  "terraform" "infra.contrib.fluxcd.io"
  "cozystack" "cozystack.io") . -}}
{{- end -}}
