module antipode/kernel/cluster/beam

go 1.26.5

require (
	github.com/apache/beam/sdks/v2 v2.77.0
	gocloud.dev v0.47.0
)
