// SPDX-License-Identifier: Apache-2.0
/// Tests of how ranks in separate processes find their job and no other job.
@NullMarked
package io.weft.qa.meeting;

import org.jspecify.annotations.NullMarked;
