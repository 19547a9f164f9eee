"""Every model call goes through the table `completion`, so that no reply is paid for twice."""
