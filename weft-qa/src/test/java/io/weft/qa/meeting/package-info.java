// SPDX-License-Identifier: Apache-2.0
/// How ranks in processes of their own find their job, and no other.
@NullMarked
package io.weft.qa.meeting;

import org.jspecify.annotations.NullMarked;
