// SPDX-License-Identifier: Apache-2.0

/// Clicks on advertisements: Criteo's published form, and clicks drawn from a planted model.
@NullMarked
package io.weft.workloads.clicks;

import org.jspecify.annotations.NullMarked;
