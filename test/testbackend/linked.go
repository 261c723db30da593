//go:build xla || checks

package testbackend

import _ "antipode/gomlxmodels/device/xla" // test programs without these tags link in two thirds of the time
