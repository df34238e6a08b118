"""What aligns the craft after capture: levers with rollers, or a movable limiter."""
