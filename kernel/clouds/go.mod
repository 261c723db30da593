module antipode/kernel/clouds

go 1.26.5

require gocloud.dev v0.47.0
