// SPDX-License-Identifier: Apache-2.0
/// Those who can reach the ports of a job and do not belong to it, against real ports, and a
/// program that sets them on a training (docs/testing.md).
@NullMarked
package io.weft.qa.strangers;

import org.jspecify.annotations.NullMarked;
