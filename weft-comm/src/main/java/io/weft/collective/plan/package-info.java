// SPDX-License-Identifier: Apache-2.0
/// Which algorithm a collective takes, and its schedule with the dependencies worked out.
@NullMarked
package io.weft.collective.plan;

import org.jspecify.annotations.NullMarked;
