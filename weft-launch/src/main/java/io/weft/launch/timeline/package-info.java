// SPDX-License-Identifier: Apache-2.0
/// The combination of a job's timelines: one trace for a browser, and a report in words. Files are
/// read event by event.
@NullMarked
package io.weft.launch.timeline;

import org.jspecify.annotations.NullMarked;
