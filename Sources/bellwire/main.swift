print("bellwire")
