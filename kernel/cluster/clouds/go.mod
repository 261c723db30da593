module antipode/kernel/cluster/clouds

go 1.26.5

require (
	cloud.google.com/go/storage v1.67.0
	github.com/Azure/azure-sdk-for-go/sdk/azcore v1.23.1
	gocloud.dev v0.47.0
	google.golang.org/api v0.297.0
)
